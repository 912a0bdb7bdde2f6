/**
 * Chat templates: a subset of Jinja, with the behaviour of Python's jinja2 as Hugging Face's
 * transformers configures it. {@link dev.kvasir.text.template.PromptTemplate} is parsed once and
 * rendered for every prompt. The number of steps and characters is bounded, since a template comes
 * with a model and runs for every request.
 */
package dev.kvasir.text.template;
