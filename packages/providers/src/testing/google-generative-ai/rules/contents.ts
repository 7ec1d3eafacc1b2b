// Rules of the Gemini wire about contents, their order, and what a part may hold.
import { isRecord } from "@clew/plugin-sdk/host";
import { first, hasLoneSurrogate, list, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import { type GeminiView, inlineOf, isBytes, type PartAt } from "../view.ts";

const TOP_LEVEL = words(
  `contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels
  serviceTier model store modelArmorConfig`,
);
const DATA = `text inlineData fileData functionCall functionResponse executableCode
  codeExecutionResult toolCall toolResponse audioTranscription`;
const IN_PART = words(
  `${DATA} thought thoughtSignature videoMetadata partMetadata mediaResolution mediaProcessing
  speechMetadata`,
);
const MEDIA = /^(?:image\/(?:png|jpeg|webp|heic|heif|gif)|audio\/|video\/|text\/|application\/pdf)/;
const dataIn = ({ value }: PartAt) => [...words(DATA)].filter((key) => value[key] !== undefined);
const unknown = (name: string, at: string) =>
  `Invalid JSON payload received. Unknown name "${name}"${at === "" ? "" : ` at '${at}'`}: Cannot find field.`;
const missing = (path: string) => `* GenerateContentRequest.${path}`;

export const CONTENT_RULES: readonly WireRule<GeminiView>[] = [
  rejects("toplevel.unknown", ({ body }) =>
    first(
      Object.keys(body),
      (key) => !TOP_LEVEL.has(key),
      (key) => unknown(key, ""),
    ),
  ),
  rejects("content.unknown_field", ({ contents }) =>
    first(
      contents.flatMap(({ value, path }) => Object.keys(value).map((key) => ({ key, path }))),
      ({ key }) => key !== "role" && key !== "parts",
      ({ key, path }) => unknown(key, path),
    ),
  ),
  rejects("part.unknown_field", ({ parts }) =>
    first(
      parts.flatMap(({ value, path }) => Object.keys(value).map((key) => ({ key, path }))),
      ({ key }) => !IN_PART.has(key),
      ({ key, path }) => unknown(key, path),
    ),
  ),
  rejects("contents.required", ({ body }) =>
    list(body.contents).length === 0 ? missing("contents: contents is not specified") : undefined,
  ),
  rejects("role.invalid", ({ contents }) =>
    first(
      contents,
      ({ role }) => !["user", "model", "function"].includes(role),
      () => "Please use a valid role: user, model.",
    ),
  ),
  rejects("parts.empty", ({ contents }) =>
    first(
      contents,
      ({ value }) => list(value.parts).length === 0,
      ({ path }) => missing(`${path}.parts: contents.parts must not be empty.`),
    ),
  ),
  rejects("part.data", ({ parts }) =>
    first(
      parts,
      (part) => dataIn(part).length === 0,
      ({ path }) =>
        missing(`${path}.data: required oneof field 'data' must have one initialized field`),
    ),
  ),
  rejects("part.oneof", ({ parts }) =>
    first(
      parts,
      (part) => dataIn(part).length > 1,
      ({ path }) => `Invalid value at '${path}' (oneof), oneof field 'data' is already set.`,
    ),
  ),
  compat("first.user", ({ contents: [content] }) =>
    content?.role === "model" && content.calls.length === 0
      ? "Please ensure that multiturn requests start with a user role."
      : undefined,
  ),
  compat("roles.alternate", ({ contents }) =>
    first(
      contents.slice(1),
      ({ role, index, calls }) => contents[index - 1]?.role === role && calls.length === 0,
      () => "Please ensure that multiturn requests alternate between user and model.",
    ),
  ),
  compat("last.model", ({ contents }) =>
    contents.at(-1)?.role === "model"
      ? "Please ensure that multiturn requests ends with a user role or a function response."
      : undefined,
  ),
  rejects("part.role", ({ contents }) =>
    first(
      contents,
      ({ role, calls, responses }) =>
        (role === "user" && calls.length > 0) || (role === "model" && responses.length > 0),
      ({ path, role }) =>
        `Invalid value at '${path}': a ${role === "user" ? "functionCall" : "functionResponse"} is not allowed in a ${role} turn.`,
    ),
  ),
  rejects("signature.base64", ({ parts }) =>
    first(
      parts,
      ({ value: { thoughtSignature: given } }) => given !== undefined && !isBytes(given),
      ({ path, value }) =>
        `Invalid value at '${path}.thought_signature' (TYPE_BYTES), Base64 decoding failed for "${text(value.thoughtSignature)}"`,
    ),
  ),
  rejects("inline.base64", ({ parts }) =>
    first(
      parts.filter(({ value }) => isRecord(value.inlineData)),
      (part) => !isBytes(inlineOf(part).data) || text(inlineOf(part).data) === "",
      ({ path }) =>
        `Invalid value at '${path}.inline_data.data' (TYPE_BYTES), Base64 decoding failed`,
    ),
  ),
  rejects("inline.mime", ({ parts }) =>
    first(
      parts.filter(({ value }) => isRecord(value.inlineData)),
      (part) => !MEDIA.test(text(inlineOf(part).mimeType)),
      (part) => `Unsupported MIME type: ${text(inlineOf(part).mimeType)}`,
    ),
  ),
  rejects("unicode.surrogate", ({ body }) =>
    hasLoneSurrogate(body) ? "Invalid JSON payload received. Invalid UTF-16 surrogate." : undefined,
  ),
];
