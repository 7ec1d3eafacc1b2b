// Says how the driver is to speak TLS, and why a server's certificate is refused.

/**
 * The same address with the mode that the driver means. It checks certificate and name in each of
 * these, and warns of what a later version of it would do.
 */
export function withPlainMode(url: string): string {
  if (!URL.canParse(url)) return url;
  const { searchParams } = new URL(url);
  if (searchParams.has("uselibpqcompat")) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full");
}

/** As Node names what is wrong with a certificate. */
const UNTRUSTED =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_[A-Z_]+|CERT_[A-Z_]+|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** Null: it has nothing to do with certificates. */
export function whyNoTls(code: string, host: string): string | null {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `The certificate of PostgreSQL at ${host} is of another host (${code}); name the one that it is of in storage.url, or give the server one of its own.`;
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return `The certificate of PostgreSQL at ${host} is not valid today (${code}); renew it.`;
  if (UNTRUSTED.test(code))
    return `PostgreSQL at ${host} answers with a certificate that nobody vouches for here (${code}); name the file of the authority that signed it in storage.url: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem.`;
  return null;
}
