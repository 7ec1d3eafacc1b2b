// Reads a provider's key from a program that prints it.
import { type CredentialSource, type KeyCredential, SignInError } from "./credential.ts";
import { objectIn, textIn } from "./issuer.ts";
import { type Command, runProgram, shownProgram } from "./program.ts";

/** A token that does not say when it ends is asked for again after this time. */
const UNTOLD_MS = 5 * 60_000;

export function keyFromCommand(command: Command, timeoutMs: number): CredentialSource {
  const program = shownProgram(command);
  return {
    name: `what the command "${program}" prints`,
    account: `command ${typeof command === "string" ? command : command.join(" ")}`,
    obtain: async ({ now }) => {
      const key = planKey(await runProgram(command, timeoutMs), now());
      if (key !== undefined) return key;
      throw new SignInError(
        `the command "${program}" printed no token; it must print one line, or JSON with "token" and "expiresAt"`,
      );
    },
  };
}

/**
 * The token in what a program printed: one line, or a JSON object with `token` (or `access_token`)
 * and the end as `expiresAt` (a date) or `expires_in` (seconds). A JWT tells its end itself.
 */
export function planKey(printed: string, now: number): KeyCredential | undefined {
  const text = printed.trim();
  if (text.startsWith("{")) {
    const { token, access_token, expiresAt, expires_in: seconds } = objectIn(text);
    const key = textIn(token) ?? textIn(access_token);
    const told = Date.parse(textIn(expiresAt) ?? "");
    const end = typeof seconds === "number" ? now + seconds * 1000 : told;
    return key === undefined
      ? undefined
      : { kind: "key", key, expiresAt: Number.isFinite(end) ? end : now + UNTOLD_MS };
  }
  if (text === "" || /\s/.test(text)) return undefined;
  return { kind: "key", key: text, expiresAt: endOfJwt(text) ?? now + UNTOLD_MS };
}

function endOfJwt(token: string): number | undefined {
  const [, claims, signature] = token.split(".");
  if (claims === undefined || signature === undefined) return undefined;
  const { exp } = objectIn(Buffer.from(claims, "base64url").toString());
  return typeof exp === "number" ? exp * 1000 : undefined;
}
