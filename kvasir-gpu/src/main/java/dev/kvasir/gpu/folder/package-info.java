/**
 * Models as Hugging Face has them: a folder with config.json and safetensors files. The config says
 * the shape; the tensors are mapped, checked, and found under the names that GGUF has for them.
 */
package dev.kvasir.gpu.folder;
