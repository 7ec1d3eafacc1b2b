// Turns the bytes of a Gemini answer into stream events.

import { isRecord } from "@clew/plugin-sdk/host";
import type { DecoderOptions, StreamDecoder } from "../provider.ts";
import { type Answer, createAnswerDecoder, type EventReader } from "../shared/answer.ts";
import { isCallId } from "../shared/call-id.ts";
import { makeUpId } from "./call-ids.ts";
import { readUsage } from "./usage.ts";

/** Reasons of a reply that is not shown because of what it says. */
const FILTERED: ReadonlySet<string> = new Set([
  ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"],
  ...["IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"],
]);

/** Reasons of a reply that the model could not write; each completes "… sent". */
const BROKEN: Readonly<Record<string, string>> = {
  MALFORMED_FUNCTION_CALL: "a call of a tool that is none",
  UNEXPECTED_TOOL_CALL: "a call of a tool although none was offered",
  TOO_MANY_TOOL_CALLS: "more calls of tools than it allows",
};

/** `unwrap`: the response within what the server sent. */
export function createGeminiDecoder(
  options: DecoderOptions,
  unwrap: (event: Json) => Json = (event) => event,
): StreamDecoder {
  return createAnswerDecoder(
    options,
    "Gemini",
    (answer) => new GeminiReader(answer, unwrap, options.now),
  );
}

type Json = Readonly<Record<string, unknown>>;

class GeminiReader implements EventReader {
  readonly #answer: Answer;
  readonly #unwrap: (event: Json) => Json;
  readonly #now: () => number;
  #finishReason = "";
  #blockReason = "";
  #calls = 0;
  /** A call whose arguments cannot be read. */
  #broken: string | undefined;

  constructor(answer: Answer, unwrap: (event: Json) => Json, now: () => number) {
    this.#answer = answer;
    this.#unwrap = unwrap;
    this.#now = now;
  }

  /** Every event is a whole response, and so is an answer that was not streamed. */
  read(event: Json): void {
    const { candidates, usageMetadata, responseId, promptFeedback } = this.#unwrap(event);
    const { reply } = this.#answer;
    if (isText(responseId)) reply.responseId = responseId;
    if (isRecord(usageMetadata)) reply.usage = readUsage(usageMetadata) ?? reply.usage;
    const { blockReason } = recordOf(promptFeedback);
    if (isText(blockReason)) this.#blockReason = blockReason;
    const { content, finishReason } = recordOf(list(candidates)[0]);
    for (const part of list(recordOf(content).parts)) if (isRecord(part)) this.#readPart(part);
    if (isText(finishReason)) this.#finishReason = finishReason;
  }

  /** Only here: some models give a reason with every event. */
  finish(): void {
    const reason = this.#finishReason;
    if (this.#blockReason !== "" || FILTERED.has(reason)) this.#answer.failAsFiltered();
    else if (reason === "MAX_TOKENS") this.#answer.done("length");
    else if (reason === "STOP" && this.#broken !== undefined)
      this.#answer.failAsUnreadable(this.#broken);
    else if (reason === "STOP") this.#answer.done("stop");
    else if (reason !== "")
      this.#answer.failAsInvalid(
        `${BROKEN[reason] ?? "an answer that it ended itself"} (${reason.slice(0, 64)}); try again, or use another model.`,
      );
  }

  #readPart(part: Json): void {
    const { text, thought, functionCall, thoughtSignature: signature } = part;
    const { reply } = this.#answer;
    if (isRecord(functionCall)) this.#readCall(functionCall, signature);
    else if (typeof text !== "string") this.#readOpaque(part);
    else if (thought === true) {
      this.#answer.thinking(text, "thought");
      if (isText(signature)) reply.sign(signature, "thought");
    } else {
      this.#answer.text(text);
      // A signature may come alone, behind the text it is of.
      if (isText(signature) && !reply.signText(signature)) this.#readOpaque(part);
    }
    // What is signed and what is not must not become one.
    if (isText(signature)) reply.endBlock();
  }

  #readCall({ id, name, args = {} }: Json, signature: unknown): void {
    const { reply } = this.#answer;
    const index = this.#calls++;
    if (!isText(name) || !isRecord(args)) this.#broken ??= isText(name) ? name : "";
    else
      reply.toolCall({
        type: "toolCall",
        id: isCallId(id) ? id : makeUpId(reply.responseId ?? this.#now().toString(36), index),
        name,
        arguments: args,
        ...(isText(signature) && { thoughtSignature: signature }),
      });
  }

  /** What only the provider understands goes back as it came. */
  #readOpaque(part: Json): void {
    const kind = Object.keys(part).find((key) => key !== "thoughtSignature" && key !== "thought");
    if (kind !== undefined) this.#answer.reply.opaque(kind, part);
  }
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
