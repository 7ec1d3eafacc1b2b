// Under which headers a request goes.
import type { Endpoint } from "../provider.ts";

/** The driver's headers, and a person's own over them: each has one spelling. */
export function headersOf(
  endpoint: Endpoint,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "text/event-stream",
    ...own,
    ...lowerCaseNames(endpoint.headers ?? {}),
  };
}

/** The usual way to sign in; nothing without a key. */
export const bearer = ({ apiKey }: Endpoint): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
