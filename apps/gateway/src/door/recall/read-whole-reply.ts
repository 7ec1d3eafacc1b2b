// Reads a reply as the messages by which its model server wants it back.
import { isRecord } from "@clew/plugin-sdk/host";
import { fromJson } from "../../own-json.ts";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";
import { objectsOf, recordOf, textOf } from "../wires/json.ts";

/**
 * Everything in it as it came, proofs of thinking included. `ids`: of its calls in order, for a
 * server that gives none. Throws where the text is no whole reply of that wire.
 */
export function readWholeReply(api: DoorApi, text: string, ids: readonly string[]): JsonObject[] {
  return READERS[api](documentsIn(text), ids);
}

/** Of a document, a list of documents, or a stream of events. */
function documentsIn(text: string): JsonObject[] {
  if (/^\s*[[{]/.test(text)) return [fromJson(text)].flat().filter(isRecord);
  return text.split(/\r?\n\r?\n|\r\r/).flatMap((event) => {
    const data = event
      .split(/\r?\n|\r/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice("data:".length).trimStart())
      .join("\n");
    if (data === "" || data === "[DONE]") return [];
    const document = fromJson(data);
    return isRecord(document) ? [document] : [];
  });
}

type Reader = (documents: readonly JsonObject[], ids: readonly string[]) => JsonObject[];

const readCompletions: Reader = (documents, ids) => {
  let whole: JsonObject = { role: "assistant", content: null };
  const calls: JsonObject[] = [];
  for (const { choices } of documents)
    for (const { message, delta } of objectsOf(choices).slice(0, 1)) {
      const { tool_calls: more, ...rest } = recordOf(message ?? delta);
      whole = grown(whole, rest);
      for (const [place, call] of objectsOf(more).entries()) {
        const { index = place, ...piece } = call;
        const at = Number(index);
        calls[at] = grown(calls[at] ?? {}, piece);
      }
    }
  const made = calls.map((call, at) => ({ ...call, id: textOf(call.id) || ids[at] }));
  return [{ ...whole, ...(made.length > 0 && { tool_calls: made }) }];
};

/** These come whole, and in some streams with each piece again. */
const WHOLE = new Set(["role", "id", "type", "name"]);

function grown(before: JsonObject, piece: JsonObject): JsonObject {
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    const had = after[name];
    if (value === null || value === undefined) after[name] ??= value;
    else if (typeof value === "string" && typeof had === "string" && !WHOLE.has(name))
      after[name] = had + value;
    else if (Array.isArray(value) && Array.isArray(had)) after[name] = [...had, ...value];
    else if (isRecord(value) && isRecord(had)) after[name] = grown(had, value);
    else if (value !== "" || had === undefined) after[name] = value;
  }
  return after;
}

const readResponses: Reader = (documents) => {
  const done = documents.filter(({ type }) => type === "response.output_item.done");
  return done.length > 0
    ? done.map(({ item }) => recordOf(item))
    : documents.flatMap(({ output, response }) => objectsOf(output ?? recordOf(response).output));
};

const readMessages: Reader = (documents) => {
  const [first] = documents;
  if (first?.type === "message") return [{ role: "assistant", content: first.content }];
  const blocks: Record<string, unknown>[] = [];
  const inputs: string[] = [];
  for (const { type, index, content_block: block, delta } of documents) {
    const at = Number(index);
    if (type === "content_block_start") blocks[at] = { ...recordOf(block) };
    if (type !== "content_block_delta") continue;
    const { type: kind, partial_json: json, ...piece } = recordOf(delta);
    if (kind === "input_json_delta") inputs[at] = (inputs[at] ?? "") + textOf(json);
    else if (kind === "citations_delta")
      blocks[at]!.citations = [...objectsOf(blocks[at]!.citations), recordOf(piece.citation)];
    else blocks[at] = grown(blocks[at] ?? {}, piece);
  }
  const content = blocks.map((block, at) =>
    inputs[at] ? { ...block, input: fromJson(inputs[at]) } : block,
  );
  return [{ role: "assistant", content }];
};

const readContent: Reader = (documents) => {
  const parts = documents.flatMap(({ candidates }) =>
    objectsOf(recordOf(objectsOf(candidates)[0]?.content).parts),
  );
  return [{ role: "model", parts }];
};

const READERS: Readonly<Record<DoorApi, Reader>> = {
  "openai-completions": readCompletions,
  "openai-responses": readResponses,
  "anthropic-messages": readMessages,
  "google-generative-ai": readContent,
};
