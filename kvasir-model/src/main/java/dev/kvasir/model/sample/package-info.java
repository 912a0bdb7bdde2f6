/** Samples the next token: temperature, top-k, top-p, penalties, and log probabilities. */
package dev.kvasir.model.sample;
