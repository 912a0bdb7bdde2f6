/** The command that makes profiles of deployments. */
package dev.kvasir.cli.calibrate;
