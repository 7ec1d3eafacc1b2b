// What a message of a wire says, before it is one of a transcript.
import type { AssistantBlock, ImageBlock, TextBlock } from "@clew/plugin-sdk/core";
import { fromJson } from "../../own-json.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { objectsOf, textOf } from "../wires/json.ts";

export type WireRead =
  | { by: "person" | "system"; content: (TextBlock | ImageBlock)[] }
  | { by: "model"; content: AssistantBlock[] }
  | {
      by: "tool";
      id: string;
      /** "" where the wire does not say it. */
      name: string;
      content: (TextBlock | ImageBlock)[];
      isError: boolean;
    };

/** What nobody here understands stays readable. */
export const textBlock = (text: string): TextBlock => ({ type: "text", text });

/**
 * A content that is a text, a list of parts or nothing; `image` reads a part that is one, and what
 * is neither is told as its JSON.
 */
export function shownBlocks(
  content: unknown,
  image: (part: JsonObject) => ImageBlock | undefined,
): (TextBlock | ImageBlock)[] {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)];
  return objectsOf(content).flatMap((part): (TextBlock | ImageBlock)[] => {
    if (typeof part.text === "string") return part.text === "" ? [] : [textBlock(part.text)];
    return [image(part) ?? textBlock(`[${textOf(part.type) || Object.keys(part).join(", ")}]`)];
  });
}

/** `data:` addresses hold the image; others are told as their address, in a text. */
export function imageAt(url: string): ImageBlock | undefined {
  const [, mimeType, data] = /^data:([\w.+-]+\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? [];
  return mimeType === undefined || data === undefined
    ? undefined
    : { type: "image", data, mimeType };
}

/** The arguments of a call, which wires carry as an object or as its JSON. */
export function argumentsOf(given: unknown): Record<string, unknown> {
  if (typeof given !== "string") return objectsOf([given])[0] ?? {};
  try {
    return objectsOf([fromJson(given)])[0] ?? { input: given };
  } catch {
    return { input: given };
  }
}
