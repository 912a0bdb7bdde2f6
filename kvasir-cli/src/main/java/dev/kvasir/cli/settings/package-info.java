/**
 * Contents of {@code kvasir.yaml}: one record for each section, with its defaults and its checks.
 *
 * <p>{@code Deployment} is the whole file. {@code serve} runs it, {@code simulate} predicts it, and
 * a capture carries it. {@code Configuration} merges the layers: {@code flags > environment > file
 * > defaults}.
 */
package dev.kvasir.cli.settings;
