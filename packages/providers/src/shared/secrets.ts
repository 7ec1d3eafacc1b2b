// What of a request nobody may be told, and how a text is rid of it.
import { SECRET_NAME } from "@clew/plugin-sdk/host";

/** What of a request's headers nobody may be told. */
export const secretsOf = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    SECRET_NAME.test(name) ? [value, value.replace(/^[\w-]+ /, "")] : [],
  );

/** Shorter ones would be found in any text. */
const LEAST = 4;
/** Shorter ones tell too little of themselves in another writing. */
const LEAST_ENCODED = 8;

/** The text with "[key]" for each secret, also in base64 or other letters, and for known kinds. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const known = forms.reduce(
    (rest, form) => rest.replace(new RegExp(escaped(form), "gi"), "[key]"),
    text,
  );
  return known.replace(/\b(?:(?:sk|pk|gsk|xai)-|AIza|ya29\.)[\w-]{8,}/gi, "[key]");
}

/** A secret as it is, as an address writes it, and what of it must stand in any base64 of it. */
function formsOf(secret: string): string[] {
  if (secret.length < LEAST) return [];
  if (secret.length < LEAST_ENCODED) return [secret];
  const inBase64 = [0, 1, 2].flatMap((before) => {
    const core = base64Core(secret, before);
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [secret, encodeURIComponent(secret.toWellFormed()), ...inBase64].filter(
    (form) => form.length >= LEAST_ENCODED,
  );
}

/** Without the letters that depend on the `before` bytes in front of it, and on those behind. */
function base64Core(secret: string, before: number): string {
  const bytes = [...new Uint8Array(before), ...new TextEncoder().encode(secret)];
  const whole = btoa(String.fromCharCode(...bytes)).replace(/=+$/, "");
  const end = bytes.length % 3 === 0 ? whole.length : whole.length - 1;
  return whole.slice(Math.ceil((before * 4) / 3), end);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
