/**
 * Requests of the OpenAI API as an embedded engine reads them, and its answers as bytes.
 *
 * <p>Unknown fields are ignored; fields of the wrong kind are refused.
 */
package dev.kvasir.embedded.api;
