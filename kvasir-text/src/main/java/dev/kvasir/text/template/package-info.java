/**
 * Chat templates: the part of Jinja that they use, run as Python's jinja2 does with the settings of
 * Hugging Face's transformers. {@link dev.kvasir.text.template.PromptTemplate} is read once and
 * rendered for every prompt; steps and letters are bounded, since a template comes with a model and
 * runs for every request.
 */
package dev.kvasir.text.template;
