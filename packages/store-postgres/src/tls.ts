// Says how the driver is to speak TLS, and why it cannot.
import type pg from "pg";

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

const MODES = ["disable", "no-verify", "prefer", "require", "verify-ca", "verify-full"];

/** Null: the address names no mode, or one that there is. */
export function unknownMode(url: string): string | null {
  const mode = new URL(url).searchParams.get("sslmode");
  if (mode === null || MODES.includes(mode)) return null;
  return `The address of the database says sslmode=${mode}, and there is no such mode; say verify-full (require, verify-ca and prefer mean the same here), no-verify, or disable.`;
}

/** Pure. */
export const asksForTls = (url: string): boolean => {
  const { searchParams } = new URL(url);
  const mode = searchParams.get("sslmode");
  return mode === null ? searchParams.has("sslrootcert") : mode !== "disable";
};

/** True: all that the server answered was the one byte that says that it speaks no TLS. */
export function refusesTls(client: pg.Client): boolean {
  const { connection } = client as unknown as {
    connection?: { stream?: { bytesRead?: number } };
  };
  return connection?.stream?.bytesRead === 1;
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
