// Requests of Google's generateContent, as the door reads and shortens them.
import { isRecord } from "@clew/plugin-sdk/host";
import type { DoorWire, JsonObject, MessageLook, Speaker } from "./door-wire.ts";
import { readGooglePath } from "./google-path.ts";
import { identityOf, isThinking } from "./identity.ts";
import {
  changeEach,
  countOf,
  formOf,
  lengthOf,
  messagesOf,
  objectsOf,
  recordOf,
  textOf,
  wordsOf,
} from "./json.ts";
import { fixedSentence, partsOf, takenBy } from "./overflow-words.ts";

/** Google's API takes each name in both ways. */
const CONFIGS = ["generationConfig", "generation_config"];
const REPLY_LIMITS = CONFIGS.flatMap((config) =>
  ["maxOutputTokens", "max_output_tokens"].map((limit) => [config, limit] as const),
);
const THINKING_LIMITS = CONFIGS.flatMap((config) =>
  ["thinkingConfig", "thinking_config"].flatMap((thinking) =>
    ["thinkingBudget", "thinking_budget"].map((limit) => [config, thinking, limit] as const),
  ),
);

export const GENERATE_CONTENT: DoorWire = {
  api: "google-generative-ai",
  list: "contents",
  replyLimits: REPLY_LIMITS,
  mostMarkers: 0,
  thinkingLimits: THINKING_LIMITS,
  read(body, path) {
    const messages =
      typeof body.contents === "string"
        ? [{ role: "user", parts: [{ text: body.contents }] }]
        : messagesOf(body.contents);
    if (messages === undefined) return undefined;
    const { model, method } = readGooglePath(path) ?? { model: "", method: "" };
    return {
      model,
      streaming: method.startsWith("stream"),
      messages,
      leading: 0,
      system: body.systemInstruction ?? body.system_instruction ?? null,
      tools: objectsOf(body.tools).flatMap((tool) => {
        const declared = objectsOf(tool.functionDeclarations ?? tool.function_declarations);
        return declared.length > 0 ? declared.map(({ name }) => textOf(name)) : Object.keys(tool);
      }),
      ...countOf(
        REPLY_LIMITS.map(([config, limit]) => recordOf(body[config])[limit]).find(
          (value) => value !== undefined,
        ),
      ),
    };
  },
  look(content): MessageLook {
    const parts = objectsOf(content.parts);
    const idsOf = (name: string) =>
      parts.map((part) => givenId(recordOf(part[name]))).filter(Boolean);
    return {
      speaker: speakerOf(content, parts),
      identity: identityOf(content),
      ...(isWordsAlone(content, parts) && {
        wordsAnywhere: identityOf({ role: "user", content: parts }),
      }),
      calls: idsOf("functionCall"),
      get forms() {
        return parts
          .filter(({ functionCall }) => functionCall !== undefined)
          .map(({ functionCall }) =>
            formOf(recordOf(functionCall).name, recordOf(functionCall).args),
          );
      },
      answers: idsOf("functionResponse"),
      text: parts
        .filter((part) => !isThinking(part))
        .map(({ text }) => textOf(text))
        .filter(Boolean)
        .join("\n"),
      thinks: parts.some((part) => isThinking(part) || part.thoughtSignature !== undefined),
    };
  },
  withIds(content, idFor) {
    const named = (part: JsonObject, name: string): JsonObject => {
      const call = part[name];
      if (!isRecord(call) || givenId(call) === "") return part;
      return { ...part, [name]: { ...call, id: idFor(givenId(call)) } };
    };
    const parts = changeEach(content.parts, (part) =>
      named(named(part, "functionCall"), "functionResponse"),
    );
    return { ...content, parts };
  },
  elide(content, chars, say) {
    const parts = changeEach(content.parts, (part) => {
      const result = part.functionResponse;
      if (!isRecord(result)) return part;
      const length = lengthOf(result.response) + (result.parts ? lengthOf(result.parts) : 0);
      if (length <= chars) return part;
      const { parts: _media, ...rest } = result;
      const said = "error" in recordOf(result.response) ? "error" : "output";
      return {
        ...part,
        functionResponse: { ...rest, response: { [said]: say(length, wordsOf(result.response)) } },
      };
    });
    return parts === content.parts || !Array.isArray(content.parts)
      ? content
      : { ...content, parts };
  },
  // The first call of a step is refused without its signature.
  withoutThinking: (content) => content,
  withText: (content, text) => ({ ...content, parts: [...objectsOf(content.parts), { text }] }),
  withMarker: () => undefined,
  overflow: (overflow) =>
    googleError(
      400,
      `The input token count (${takenBy(overflow)}) exceeds the maximum number of tokens allowed (${overflow.window})${partsOf(overflow, ["prompt", "reply"])}.${fixedSentence(overflow)}`,
    ),
  error: googleError,
};

/** Gemini CLI shows old calls to a check for loops under "read_file__<id>". */
function givenId(call: JsonObject): string {
  const id = textOf(call.id);
  const prefix = `${textOf(call.name)}__`;
  return id.startsWith(prefix) ? id.slice(prefix.length) : id;
}

const STATUSES: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function googleError(code: number, message: string) {
  const status = STATUSES[code] ?? (code < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
  return { status: code, reason: message, body: { error: { code, message, status } } };
}

const isWordsAlone = ({ role }: JsonObject, parts: readonly JsonObject[]): boolean =>
  role !== "model" && parts.length > 0 && parts.every(({ text }) => typeof text === "string");

function speakerOf({ role }: JsonObject, parts: readonly JsonObject[]): Speaker {
  if (role === "model") return "model";
  return parts.some(({ functionResponse }) => functionResponse !== undefined) ? "tools" : "person";
}
