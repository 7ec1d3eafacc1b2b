// What is wrong with the shape of an engine's results, whatever they hold.
import type { AssembleResult, CompactResult } from "../../contract/lifecycle.ts";
import { type AgentMessage, AgentMessageSchema } from "../../contract/message.ts";
import { isRecord } from "../../is-record.ts";
import { short } from "./content.ts";

/** Undefined = nothing; else a sentence about `assemble()`. */
export function viewShapeFault(result: AssembleResult): string | undefined {
  const { messages, estimatedTokens, promptAuthority, systemPromptAddition, reasons } = result;
  if (!Array.isArray(messages)) return "it answered no list of messages";
  for (let index = 0; index < messages.length; index++) {
    if (!(index in messages)) return `message ${index} of its list is missing`;
    const parsed = AgentMessageSchema.safeParse(messages[index]);
    if (!parsed.success || !hasBlocks(messages[index]!))
      return `message ${index} of its list is none: ${short(messages[index])}`;
  }
  if (
    typeof estimatedTokens !== "number" ||
    !(estimatedTokens >= 0) ||
    estimatedTokens === Infinity
  )
    return `its estimatedTokens is ${String(estimatedTokens)}`;
  if (!AUTHORITIES.has(promptAuthority)) return `its promptAuthority is ${short(promptAuthority)}`;
  if (systemPromptAddition !== undefined && typeof systemPromptAddition !== "string")
    return "its systemPromptAddition is no text";
  return (
    reasonsFault(reasons, messages.length) ??
    summariesFault(result.summaries, messages.length) ??
    projectionFault(result.contextProjection) ??
    plainFault(result)
  );
}

/** True: what it says is text, or blocks that say of which kind they are. */
const hasBlocks = (message: AgentMessage) =>
  !("content" in message) ||
  !Array.isArray(message.content) ||
  [...message.content].every((block: unknown) => isRecord(block) && typeof block.type === "string");

const AUTHORITIES: ReadonlySet<unknown> = new Set([
  undefined,
  "assembled",
  "preassembly_may_overflow",
]);

function reasonsFault(reasons: AssembleResult["reasons"], count: number): string | undefined {
  if (reasons === undefined) return undefined;
  if (!Array.isArray(reasons)) return "its reasons are no list";
  let last = -1;
  for (const one of reasons) {
    if (!isRecord(one) || typeof one.reason !== "string" || one.reason.trim() === "")
      return "one of its reasons says nothing";
    if (!Number.isInteger(one.from) || one.from <= last || one.from >= count)
      return `one of its reasons begins at message ${String(one.from)} of ${count}`;
    last = one.from;
  }
  return undefined;
}

function summariesFault(summaries: AssembleResult["summaries"], count: number): string | undefined {
  if (summaries === undefined) return undefined;
  if (!Array.isArray(summaries)) return "its summaries are no list";
  for (const one of summaries) {
    if (!isRecord(one) || typeof one.id !== "string" || one.id === "")
      return "one of its summaries has no id";
    if (!Number.isInteger(one.at) || one.at < 0 || one.at >= count)
      return `one of its summaries is message ${String(one.at)} of ${count}`;
    const isCover = (cover: unknown) => isRecord(cover) && typeof cover.until === "string";
    if (!Array.isArray(one.covers) || !one.covers.every(isCover))
      return `the summary ${short(one.id)} does not say what it covers`;
  }
  return undefined;
}

function projectionFault(projection: unknown): string | undefined {
  if (projection === undefined) return undefined;
  const isValid =
    isRecord(projection) &&
    (projection.mode === "per_turn" || projection.mode === "thread_bootstrap") &&
    [projection.epoch, projection.fingerprint].every(
      (one) => one === undefined || typeof one === "string",
    );
  return isValid ? undefined : `its contextProjection is ${short(projection)}`;
}

const written = new WeakMap<AssembleResult, string>();

/** Written once, since it is long. */
export function jsonOf(result: AssembleResult): string {
  const known = written.get(result) ?? JSON.stringify(result);
  written.set(result, known);
  return known;
}

/** Hosts take plain data only: what JSON cannot say never reaches a model. */
function plainFault(result: AssembleResult): string | undefined {
  try {
    jsonOf(result);
    return undefined;
  } catch (error) {
    return `no JSON can be written of its messages: ${(error as Error).message}`;
  }
}

/** Undefined = nothing; else a sentence about `maintain()`. */
export function maintainShapeFault(result: unknown): string | undefined {
  if (!isRecord(result)) return "it answered none";
  const { changed, bytesFreed, rewrittenEntries } = result;
  if (typeof changed !== "boolean") return `its changed is ${short(changed)}`;
  for (const [name, count] of Object.entries({ bytesFreed, rewrittenEntries }))
    if (!Number.isInteger(count) || (count as number) < 0) return `its ${name} is ${String(count)}`;
  return undefined;
}

/** Those that are for a context which became smaller; all others say why it did not. */
const COMPACTED_CODES: ReadonlySet<unknown> = new Set(["pruned-only", "weaker-summary"]);

/** Undefined = nothing; else a sentence about `compact()`. */
export function compactShapeFault(result: CompactResult): string | undefined {
  const { ok, compacted, reason, code, result: done } = result;
  if (typeof ok !== "boolean" || typeof compacted !== "boolean")
    return "it did not answer { ok: boolean, compacted: boolean }";
  if (compacted && !ok) return "it answered that it compacted but is not ok";
  if (reason !== undefined && typeof reason !== "string") return "its reason is no text";
  if (!ok && (reason ?? "").trim() === "" && code === undefined)
    return "it is not ok, and neither reason nor code says why";
  if (code !== undefined && COMPACTED_CODES.has(code) !== compacted)
    return `it answered compacted: ${compacted} with the code ${short(code)}, which says otherwise`;
  if (done === undefined || !compacted) return undefined;
  const { tokensBefore, tokensAfter } = done;
  if (!Number.isFinite(tokensBefore) || tokensBefore < 0)
    return `its tokensBefore is ${String(tokensBefore)}`;
  if (tokensAfter !== undefined && !(tokensAfter < tokensBefore))
    return `it compacted from ${tokensBefore} to ${tokensAfter} tokens by its own count`;
  return undefined;
}
