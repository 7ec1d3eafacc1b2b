// How the blocks of a message read as parts of the Gemini wire.
import type {
  AssistantBlock,
  AssistantMessage,
  ImageBlock,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "@clew/plugin-sdk/core";
import {
  isRecord,
  type ModelProfile,
  type ModelRef,
  withoutDeepParts,
} from "@clew/plugin-sdk/host";
import { NO_IMAGES } from "../shared/no-images.ts";
import { STAND_IN_SIGNATURE } from "../shared/stand-in-signature.ts";
import { isMadeUpId } from "./call-ids.ts";
import type { GeminiPlace } from "./place.ts";

/** Bytes of a picture. */
export interface InlineData {
  mimeType: string;
  /** Base64. */
  data: string;
}

/** One part that we write, as JSON. */
export type WrittenPart =
  | { text: string; thought?: true; thoughtSignature?: string }
  | { inlineData: InlineData }
  | {
      functionCall: { id?: string; name: string; args: Record<string, unknown> };
      thoughtSignature?: string;
    }
  | {
      functionResponse: {
        id?: string;
        name: string;
        response: Record<string, unknown>;
        parts?: { inlineData: InlineData }[];
      };
    };

/** An opaque one holds what the model sent. */
export type GeminiPart = WrittenPart | Readonly<Record<string, unknown>>;

/** Whom parts are written for. */
export interface PartReader {
  model: ModelRef;
  profile: ModelProfile;
  place: GeminiPlace;
}

/** Google's reader of JSON stops at a hundred, of which the request around them takes some. */
const MAX_ARGUMENT_LEVELS = 64;

/** None of blank text. */
export function userParts({ content }: UserMessage, { model }: PartReader): GeminiPart[] {
  if (typeof content === "string") return textParts(content);
  return content.flatMap((block) => {
    if (block.type === "image") return [imagePart(block, model)];
    return block.type === "text" ? textParts(block.text) : [];
  });
}

/** The parts of a reply as it came, but for what the model does not take back. */
export function modelParts(message: AssistantMessage, reader: PartReader): GeminiPart[] {
  const first = message.content.find((block) => block.type === "toolCall");
  return message.content.flatMap((block) =>
    block.type === "toolCall"
      ? [callPart(block, message, reader, block === first)]
      : modelPart(block, reader),
  );
}

function modelPart(block: AssistantBlock, { model, profile }: PartReader): GeminiPart[] {
  switch (block.type) {
    case "text": {
      const { text, textSignature } = block;
      return /\S/.test(text) ? [{ text, ...signedBy(textSignature) }] : [];
    }
    case "thinking": {
      const { thinking: text, thinkingSignature, carrier } = block;
      const signed = signedBy(thinkingSignature);
      const isOwn = (carrier ?? profile.reasoning.carrier) === "thought";
      const says = text !== "" || signed.thoughtSignature !== undefined;
      return isOwn && says && profile.reasoning.replay !== "strip"
        ? [{ text, thought: true, ...signed }]
        : [];
    }
    case "provider":
      return block.api === model.api && isRecord(block.data) ? [block.data] : [];
    default:
      return [];
  }
}

function callPart(
  call: ToolCallBlock,
  message: AssistantMessage,
  reader: PartReader,
  isFirst: boolean,
): GeminiPart {
  const { id, name, arguments: given, thoughtSignature } = call;
  const args = withoutDeepParts(given, MAX_ARGUMENT_LEVELS);
  const { signed } = reader.profile.calls;
  const kept = signed === "never" ? {} : signedBy(thoughtSignature);
  // Of the calls of a reply only the first needs one.
  const needsStandIn = signed === "required" && isFirst && kept.thoughtSignature === undefined;
  return {
    functionCall: { ...(isNamed(call, message, reader) && { id }), name, args },
    ...(needsStandIn ? { thoughtSignature: STAND_IN_SIGNATURE } : kept),
  };
}

/**
 * True for a call whose id is sent. Vertex takes none but those the very model gave: its older
 * models refuse the field.
 */
function isNamed(
  { id }: ToolCallBlock,
  { api, provider, model: writer }: AssistantMessage,
  { model, place }: PartReader,
): boolean {
  if (isMadeUpId(id)) return false;
  const isOwn = api === model.api && provider === model.provider && writer === model.id;
  return place !== "vertex" || isOwn;
}

/** A call as its result must name it. */
export interface AskedCall {
  id: string;
  name: string;
  /** False: its id is not sent. */
  isNamed: boolean;
}

/** The calls of a reply. */
export const askedCalls = (message: AssistantMessage, reader: PartReader): AskedCall[] =>
  message.content.flatMap((block) =>
    block.type === "toolCall"
      ? [{ id: block.id, name: block.name, isNamed: isNamed(block, message, reader) }]
      : [],
  );

/**
 * The answer to a call, and what must stand behind all answers of its turn: older models take no
 * images in one.
 */
export function resultParts(
  { toolCallId, toolName, content, isError }: ToolResultMessage,
  { model, profile }: PartReader,
  call: AskedCall | undefined,
): { answer: GeminiPart; after: GeminiPart[] } {
  const shown = content.flatMap((block) =>
    block.type === "image" ? [imagePart(block, model)] : [],
  );
  const images = shown.filter((part) => "inlineData" in part);
  const texts = content.flatMap((block) => {
    if (block.type === "image") return model.acceptsImages === false ? [NO_IMAGES] : [];
    return block.type === "text" && /\S/.test(block.text) ? [block.text] : [];
  });
  // The wire compares it with the call's.
  const name = call?.name ?? toolName;
  const isInside = profile.images.inResults !== false;
  const blank =
    images.length === 0 ? (isError ? "(no message)" : "") : "(see the images that go with it)";
  const text = texts.length === 0 ? blank : texts.join("\n");
  return {
    answer: {
      functionResponse: {
        ...(call?.isNamed === true && { id: toolCallId }),
        name,
        response: isError ? { error: text } : { output: text },
        ...(isInside && images.length > 0 && { parts: images }),
      },
    },
    after:
      isInside || images.length === 0
        ? []
        : [...textParts(`Images that the tool ${name} returned:`), ...images],
  };
}

/** Bytes on the wire: a signature that is none is another provider's. */
const signedBy = (signature: unknown): { thoughtSignature?: string } =>
  typeof signature === "string" && isBase64(signature) ? { thoughtSignature: signature } : {};

/** Of either alphabet, padded or not; ids of texts look like it, too. */
const isBase64 = (text: string): boolean =>
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) &&
  text.length % 4 !== 1 &&
  (!text.endsWith("=") || text.length % 4 === 0) &&
  !text.startsWith("msg_");

const textParts = (text: string): GeminiPart[] => (/\S/.test(text) ? [{ text }] : []);

const imagePart = (
  { data, mimeType }: ImageBlock,
  model: ModelRef,
): { text: string } | { inlineData: InlineData } =>
  model.acceptsImages === false ? { text: NO_IMAGES } : { inlineData: { mimeType, data } };
