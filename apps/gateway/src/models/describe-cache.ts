// Says in words what a call read from the provider's cache, and why not more.
import type { CacheReport } from "@clew/engine-core";
import { number } from "../text/number.ts";
import type { TurnCache } from "./turn-cache.ts";

/** Null: nothing is cached there, nobody wants it, or the provider does not say. */
export function describeCache({
  predicted,
  billed,
  written,
  broke,
  told,
  earlier,
}: TurnCache): string | null {
  if (billed === null || (billed === 0 && SILENT.has(broke?.code))) return null;
  const wrote = written === null || written === 0 ? "" : `, ${number(written)} written`;
  const own = told === undefined ? "" : `; the provider says: ${told.reason.replaceAll("_", " ")}`;
  const why = broke === undefined ? "" : because(broke);
  const before =
    earlier === undefined
      ? ""
      : `; call ${earlier.call} of this turn read ${number(earlier.billed ?? 0)}, about ${number(earlier.predicted)} expected${because(earlier.broke)}`;
  const due =
    broke?.code === "first-call" ? "expected: not known" : `about ${number(predicted)} expected`;
  return `the last call read ${number(billed)} tokens, ${due}${wrote}${why}${own}${before}`;
}

/** Where nothing was to come, nothing that came is no news. */
const SILENT: ReadonlySet<string | undefined> = new Set(["not-cached", "not-asked"]);

const because = (broke: NonNullable<CacheReport["broke"]>): string =>
  ` (${WHY[broke.code]}${placeOf(broke)})`;

const placeOf = ({ at }: NonNullable<CacheReport["broke"]>): string =>
  at === undefined ? "" : ` from message ${at + 1} on`;

/** Pure. Why something could not come from a cache, by the code of a report. */
export const whyBroke = (code: string): string =>
  WHY[code as NonNullable<CacheReport["broke"]>["code"]] ?? code;

const WHY: Readonly<Record<NonNullable<CacheReport["broke"]>["code"], string>> = {
  "first-call": "the first call since the session was opened",
  "model-changed": "another model or account was asked before",
  "tools-changed": "the tools changed",
  "system-changed": "the system prompt changed",
  "messages-changed": "the history changed",
  expired: "the call before it was too long ago",
  "too-small": "so little is not kept",
  "not-asked": "the request asked for none",
  "not-cached": "nobody knew that this model caches",
};
