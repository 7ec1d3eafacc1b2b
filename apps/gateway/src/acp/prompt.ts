// Reads what an editor sends as a prompt into a message of a person.
import { isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResource } from "@agentclientprotocol/sdk";
import type { UserBlock } from "@clew/plugin-sdk/core";
import { describeBytes } from "../limits/size.ts";
import { invalid } from "./refusal.ts";

const IMAGE = /^image\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Pure. Texts, links and what is attached, in order; a text alone stays one, so that a command is
 * one. Throws AcpRefusal.
 */
export function readPrompt(blocks: readonly ContentBlock[], cwd: string): string | UserBlock[] {
  const read = blocks.map((block) => readBlock(block, cwd));
  const isSaid = read.some((block) => block.type !== "text" || block.text.trim() !== "");
  if (!isSaid) throw invalid("The prompt says nothing; send a text, a resource or an image.");
  // Editors send what a person typed around a link as pieces of one text.
  const joined: UserBlock[] = [];
  read.forEach((block, at) => {
    const last = joined.at(-1);
    const isInline = isTyped(blocks[at]!) && at > 0 && isTyped(blocks[at - 1]!);
    if (isInline && last?.type === "text" && block.type === "text")
      joined[joined.length - 1] = { type: "text", text: `${last.text}${block.text}` };
    else joined.push(block);
  });
  const [only] = joined;
  return joined.length === 1 && only?.type === "text" ? only.text : joined;
}

const isTyped = ({ type }: ContentBlock): boolean => type === "text" || type === "resource_link";

function readBlock(block: ContentBlock, cwd: string): UserBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "resource_link":
      return { type: "text", text: `[@${block.name}](${placeOf(block.uri, cwd)})` };
    case "resource":
      return readResource(block, cwd);
    case "image":
      return readImage(block.data, block.mimeType);
    default:
      throw invalid(`A prompt may hold text, resources and images, and not "${block.type}".`);
  }
}

function readResource({ resource }: EmbeddedResource, cwd: string): UserBlock {
  const place = placeOf(resource.uri, cwd);
  if ("text" in resource)
    return { type: "text", text: `\nAttached ${place}:\n\n${fenced(resource.text)}\n` };
  const mimeType = resource.mimeType ?? "";
  if (IMAGE.test(mimeType)) return readImage(resource.blob, mimeType);
  const size = describeBytes(Math.floor((resource.blob.length * 3) / 4));
  return {
    type: "text",
    text: `\nAttached ${place}: ${size} of ${mimeType || "data"}, not shown.\n`,
  };
}

function readImage(data: string, mimeType: string): UserBlock {
  if (!IMAGE.test(mimeType)) throw invalid(`"${mimeType}" is no type of an image.`);
  if (data === "" || data.length % 4 !== 0 || !BASE64.test(data))
    throw invalid("An image of the prompt is not in base64.");
  return { type: "image", data, mimeType };
}

/** Pure. Between marks that the text does not hold itself. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  const mark = "`".repeat(longest + 1);
  return `${mark}\n${text.replace(/\n$/, "")}\n${mark}`;
}

/** Pure. As tools name it where it is in the workspace; else the address. */
export function placeOf(uri: string, cwd: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    const path = fileURLToPath(uri.replace(/[#?].*$/, ""));
    const way = relative(cwd, path);
    const isInside = way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
    const lines = /#.*$/.exec(uri)?.[0] ?? "";
    return `${isInside ? way : path}${lines}`;
  } catch {
    return uri;
  }
}
