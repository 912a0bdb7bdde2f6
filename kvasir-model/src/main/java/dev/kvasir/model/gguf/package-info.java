/**
 * Files in GGUF: metadata, tensors, the tokenizer and the chat template. Every count in a file is
 * checked against the bytes that follow before memory is taken for it.
 */
package dev.kvasir.model.gguf;
