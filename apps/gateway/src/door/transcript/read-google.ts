// Reads a content of Google's generateContent for the transcript.

import type { AssistantBlock } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { toJson } from "../../own-json.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { objectsOf, recordOf, textOf } from "../wires/json.ts";
import { argumentsOf, imageAt, shownBlocks, textBlock, type WireRead } from "./wire-read.ts";

export function readGoogle(content: JsonObject): WireRead[] {
  const parts = objectsOf(content.parts);
  if (content.role === "model") return [{ by: "model", content: parts.flatMap(replyBlock) }];
  const results = parts.filter(({ functionResponse }) => functionResponse !== undefined);
  const said = shownBlocks(
    parts.filter(({ functionResponse }) => functionResponse === undefined),
    imageOf,
  );
  return [
    ...results.map((part) => resultOf(recordOf(part.functionResponse))),
    ...(said.length > 0 || results.length === 0 ? [{ by: "person" as const, content: said }] : []),
  ];
}

function imageOf(part: JsonObject) {
  const { mimeType, data } = recordOf(part.inlineData);
  return imageAt(`data:${textOf(mimeType)};base64,${textOf(data)}`);
}

function resultOf({ id, name, response }: JsonObject): WireRead {
  const { output, error } = recordOf(response);
  const said = error ?? output ?? response;
  return {
    by: "tool",
    id: textOf(id),
    name: textOf(name),
    content: [textBlock(typeof said === "string" ? said : toJson(said ?? null))],
    isError: error !== undefined,
  };
}

function replyBlock(part: JsonObject): AssistantBlock[] {
  const { functionCall, thought } = part;
  const thoughtSignature = textOf(part.thoughtSignature);
  if (isRecord(functionCall))
    return [
      {
        type: "toolCall",
        id: textOf(functionCall.id),
        name: textOf(functionCall.name),
        arguments: argumentsOf(functionCall.args),
        ...(thoughtSignature !== "" && { thoughtSignature }),
      },
    ];
  const text = textOf(part.text);
  if (text === "") return [];
  return [
    thought === true ? { type: "thinking", thinking: text, carrier: "thought" } : textBlock(text),
  ];
}
