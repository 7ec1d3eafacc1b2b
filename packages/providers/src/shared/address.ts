// Joins a path and a base URL, whose query stays behind both.
import type { Endpoint } from "../provider.ts";

/** The address of `path`, which may have a query, below the base URL, whose own query stays. */
export function addressAt({ baseUrl }: Pick<Endpoint, "baseUrl">, path: string): string {
  const [place, query] = cut(baseUrl.replace(/#.*$/s, ""), "?");
  const [below, ask] = cut(path, "?");
  const asked = [ask, query].filter((part) => part !== "");
  const end = asked.length === 0 ? "" : `?${asked.join("&")}`;
  return `${place.replace(/\/+$/, "")}/${below}${end}`;
}

function cut(text: string, at: string): [before: string, behind: string] {
  const place = text.indexOf(at);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + at.length)];
}
