package dev.kvasir.net.auth;

/** Callers who may use an endpoint. */
public enum Access {
  /** Everybody; such an endpoint tells nothing of anybody's requests. */
  PUBLIC,
  /** Those with a key, or everybody where no keys are set. */
  KEY,
  /** Those with a key for administration, or everybody where no keys are set. */
  ADMIN,
  /** Gateways with the same secret, which the endpoint itself checks; no key is looked at. */
  PEER
}
