// Proves by its hash that a list of messages is the one that a model call was sent.
import type { ModelCallReport, ReportItem, TurnReport } from "@clew/engine-core";
import { contentHash } from "../text/content-hash.ts";

/** The part of a report that tells of one call. */
interface ReportedCall {
  report: Pick<TurnReport, "model">;
  call: Pick<ModelCallReport, "system" | "tools" | "model" | "requestHash">;
}

/** Over the items up to each one, as the core makes it. */
const linked = (before: string, { hash }: ReportItem): string => contentHash(`${before}\n${hash}`);

/** Of a request whose messages have this chain. */
function hashOf({ report, call }: ReportedCall, chain: string): string {
  const heads = [...call.system, ...call.tools].map(({ hash }) => hash);
  return contentHash([call.model ?? report.model.resolved, ...heads, chain].join("\n"));
}

/** Pure. Of a request that consists of these messages. */
export const requestHashOf = (placed: ReportedCall, messages: readonly ReportItem[]): string =>
  hashOf(placed, messages.reduce(linked, ""));

/**
 * "trusted": its hash is made in another way, as an earlier release did · "lost": the list is not
 * what was sent.
 */
export type Proof = "proven" | "trusted" | "lost";

/** Follows a session from call to call, at the cost of what is new in each. */
export interface RequestProof {
  /** Takes in the next call: whether what its report tells was sent. */
  advance(placed: ReportedCall & { call: Pick<ModelCallReport, "messages"> }): Proof;
  /** A report between the calls cannot be read. */
  miss(): void;
  /** From now on a hash that is made in another way is not trusted. */
  readonly isStrict: boolean;
}

/**
 * A call is told as a difference to the one before: where that is not known any more, or is another
 * one, the hash says so, and also when what came since has made up for it.
 */
export function createRequestProof(): RequestProof {
  const chain: string[] = [];
  let isStrict = false;
  return {
    get isStrict() {
      return isStrict;
    },
    miss() {
      isStrict = true;
    },
    advance(placed) {
      const { kept, items } = placed.call.messages;
      isStrict ||= kept > chain.length;
      chain.length = Math.min(kept, chain.length);
      for (const item of items) chain.push(linked(chain.at(-1) ?? "", item));
      const isProven = hashOf(placed, chain.at(-1) ?? "") === placed.call.requestHash;
      // Whoever made one hash like this makes all of them so.
      isStrict ||= isProven;
      return isProven ? "proven" : isStrict ? "lost" : "trusted";
    },
  };
}
