// Makes the request of a model call again.
import { isRecord } from "@clew/plugin-sdk/host";
import { requestHashOf } from "../reports/request-proof.ts";
import { counted } from "../text/number.ts";
import { itemsOf, type PlacedItem } from "./describe-items.ts";
import type { ItemContent } from "./item-contents.ts";
import type { OpenedCall } from "./opened-call.ts";
import { callId, modelOf } from "./placed-call.ts";
import type { RebuiltRequest } from "./shapes/one-call.ts";

/** Pure. `contents`: of every item of the call. */
export function rebuildRequest(
  opened: OpenedCall,
  contents: (item: PlacedItem) => ItemContent,
): RebuiltRequest {
  const { call } = opened;
  const items = itemsOf(opened).map((placed) => ({ placed, content: contents(placed) }));
  const of = (part: PlacedItem["part"]) =>
    items.flatMap(({ placed, content }) => (placed.part === part ? [content] : []));
  const model = modelOf(opened);
  const lost = items.filter(({ content }) => content.lost !== null);
  const rebuiltHash =
    lost.length > 0 || opened.row.lost !== null ? null : requestHashOf(opened, opened.messages);
  const foreign = whoseRequest(opened);
  return {
    ...{ id: callId(opened), model, requestHash: call.requestHash, rebuiltHash },
    system: of("system").map(({ text }) => text),
    tools: of("tools").map(({ text }) => parsed(text)),
    messages: of("messages").map(({ message, text }) => message ?? text),
    isSame: foreign === null && rebuiltHash === call.requestHash,
    why: foreign ?? opened.row.lost ?? whyNot(lost, rebuiltHash === call.requestHash),
  };
}

/** Null: it was made here. */
function whoseRequest({ call, report, messages }: OpenedCall): string | null {
  if (call.harness === undefined) return null;
  const label = report.execution?.label ?? call.harness;
  const handed = messages.length - (call.held ?? 0);
  const before = call.held ? `, besides ${counted(call.held, "message")} that its thread held` : "";
  return `The request is ${label}'s own, which Clew never had: it was handed ${counted(handed, "message")}${before}, and added instructions and tools of its own.`;
}

/**
 * Pure. The request alone, as it was handed to the provider's driver; null = it is not as it was.
 * Each system part, tool and message has the hash that the report names, and of those hashes the
 * request's is made.
 */
export function sentRequest(rebuilt: RebuiltRequest): string | null {
  const { model, system, tools, messages, isSame } = rebuilt;
  return isSame ? JSON.stringify({ model, system, tools, messages }) : null;
}

function whyNot(
  lost: readonly { placed: PlacedItem; content: ItemContent }[],
  isSame: boolean,
): string | null {
  const [first] = lost;
  if (first === undefined)
    return isSame ? null : "Every item is as it was sent, and still the hash is another one.";
  const { placed, content } = first;
  const { source } = placed.item;
  const what = source.kind === "entry" ? `entry ${source.entryId}` : placed.item.reason;
  const others = lost.length === 1 ? "" : ` So it is with ${lost.length - 1} more.`;
  return `The request cannot be made again to the byte: item ${placed.index + 1} of ${placed.part} (${what}): ${content.lost}. Forgetting, repairs and reports that were deleted do that.${others}`;
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : text;
  } catch {
    return text;
  }
}
