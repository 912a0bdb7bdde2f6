/**
 * Reads models from Hugging Face: a folder with config.json and safetensors files. The config holds
 * the shape. The tensors are mapped, checked, and found by their GGUF names.
 */
package dev.kvasir.gpu.folder;
