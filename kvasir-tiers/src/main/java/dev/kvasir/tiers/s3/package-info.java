/**
 * Blocks in a bucket behind the S3 API, many of them packed into one object. A claim names the pack
 * before it is there, so that two writers never store a block twice.
 */
package dev.kvasir.tiers.s3;
