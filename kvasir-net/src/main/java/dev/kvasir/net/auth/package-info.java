/** Keys of callers, and who may use an endpoint. */
package dev.kvasir.net.auth;
