// Keeps the session and the call that are shown in the address of the page.
import { shortName } from "../src/sessions/keys.ts";
import { type Place, pathOfPlace, placeInPath, turnNamed } from "./inspect/place.ts";

export interface Address {
  session: string;
  /** Null: the chat. */
  place: Place | null;
}

const DEFAULT_SESSION = "main";

/** From the part after "#"; what cannot be read means the default session, and the chat. */
export function readAddress(hash: string): Address {
  const [, name = "", path = ""] = /^#?([^/]*)\/?(.*)$/s.exec(hash) ?? [];
  return { session: decoded(name) || DEFAULT_SESSION, place: placeInPath(path) };
}

/** "#main", "#main/calls/58.3". */
export function writeAddress({ session, place }: Address): string {
  const name = `#${encodeURIComponent(shortName(session))}`;
  return place === null ? name : `${name}/${pathOfPlace(place)}`;
}

/** Pure. What becomes of the history when the page goes from one address to another. */
export function planTrail(from: string, to: string): "keep" | "replace" | "push" {
  if (from === to) return "keep";
  // The same place, written otherwise.
  const was = readAddress(from);
  if (writeAddress(was) === to) return "replace";
  const known = readAddress(to).place;
  const turn = turnNamed(was.place?.call ?? null);
  if (turn === null || was.place === null || known === null) return "push";
  // The call of the turn that it named.
  const isOfIt = known.call?.startsWith(`${turn}.`) === true;
  return isOfIt && writeAddress({ ...was, place: { ...was.place, call: known.call } }) === to
    ? "replace"
    : "push";
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return "";
  }
}
