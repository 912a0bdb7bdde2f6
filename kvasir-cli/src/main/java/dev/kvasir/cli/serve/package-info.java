/** The commands {@code serve} and {@code check-config}: a deployment as it runs, or in words. */
package dev.kvasir.cli.serve;
