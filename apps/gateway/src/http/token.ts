// Lets tools run over HTTP for clients that show the gateway's token.
import { timingSafeEqual } from "node:crypto";

/** True for "Bearer <token>" with the configured token; never true while none is configured. */
export function hasToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined || token === "") return false;
  const given = Buffer.from(/^Bearer (.+)$/i.exec(authorization ?? "")?.[1] ?? "");
  const wanted = Buffer.from(token);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
