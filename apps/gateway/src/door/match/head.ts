// Decides by what the system prompt of a request is known again.
import { isRecord } from "@clew/plugin-sdk/host";
import { contentHash } from "../../text/content-hash.ts";
import type { DoorRequest, DoorWire } from "../wires/door-wire.ts";
import { identityOf } from "../wires/identity.ts";

export interface RequestHead {
  /**
   * Of its wire and its words, however they are put into messages, blocks and lines; in front
   * stands what its first words alone are known by.
   */
  head: string;
  /** Its words. */
  rules: string;
}

/** What programs of one kind begin alike, and those of two do not. */
const START = 24;

export function headOf(
  { api }: Pick<DoorWire, "api">,
  { system, messages, leading }: Pick<DoorRequest, "system" | "messages" | "leading">,
): RequestHead {
  const rules = wordsOf([system, ...messages.slice(0, leading)]).join("\n");
  const written = rules.replace(/\s+/g, "");
  const first = written
    .slice(0, 4 * START)
    .replace(/\d/g, "")
    .slice(0, START);
  const start = contentHash(first).slice(0, START_LENGTH);
  return { head: start + contentHash(api + written), rules };
}

/** Letters of a hash; so few conversations are looked at that these tell them apart. */
const START_LENGTH = 12;

/** True: one client may have written both, the one with another date or another list of files. */
export const beginsAlike = (a: string, b: string): boolean =>
  a.slice(0, START_LENGTH) === b.slice(0, START_LENGTH);

/** Texts, and what is none in the form by which messages are known. */
function wordsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  if (!isRecord(value)) return [];
  if (typeof value.text === "string") return [value.text];
  const inside = value.content ?? value.parts;
  return inside === undefined ? [identityOf(value) ?? ""] : wordsOf(inside);
}
