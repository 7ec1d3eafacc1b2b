// Turns the bytes of a Responses answer into stream events.
import { isRecord } from "@clew/plugin-sdk/host";
import type { DecoderOptions, StreamDecoder } from "../provider.ts";
import { type Answer, createAnswerDecoder, type EventReader } from "../shared/answer.ts";
import { isCallId } from "../shared/call-id.ts";
import { parseToolArguments } from "../shared/tool-arguments.ts";
import { textSignature } from "./signatures.ts";
import { toldIn } from "./told.ts";
import { readUsage } from "./usage.ts";

export function createResponsesDecoder(options: DecoderOptions): StreamDecoder {
  return createAnswerDecoder(options, "Responses", (answer) => new ResponseReader(answer));
}

type Json = Readonly<Record<string, unknown>>;

class ResponseReader implements EventReader {
  readonly #answer: Answer;
  /** Something of the item that is arriving was told already. */
  #wasTold = false;
  /** A call whose arguments cannot be read. */
  #broken: string | undefined;
  /** The response as it ended. */
  #ended: Json | undefined;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  read(event: Json): void {
    switch (event.type) {
      case "response.output_item.added":
        this.#beginItem();
        break;
      case "response.output_text.delta":
      case "response.refusal.delta":
        this.#wasTold = true;
        this.#answer.text(event.delta);
        break;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#wasTold = true;
        this.#answer.thinking(event.delta, "item");
        break;
      case "response.reasoning_summary_part.added":
        if (this.#wasTold) this.#answer.thinking("\n\n", "item");
        break;
      case "response.output_item.done":
        this.#endItem(recordOf(event.item));
        break;
      case "response.created":
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.done":
        this.#readResponse(recordOf(event.response));
        break;
      case "error":
        this.#answer.failAsTold({ code: event.code, message: event.message });
        break;
      default:
        if (event.object === "response") this.#readDocument(event);
    }
  }

  finish(): void {
    if (this.#ended === undefined) return;
    const { status, error, incomplete_details: details } = this.#ended;
    const reason = recordOf(details).reason;
    if (status === "failed") this.#answer.failAsTold(error ?? { message: "no reason was given" });
    else if (status === "cancelled") this.#answer.failAsGivenUp();
    else if (reason === "content_filter") this.#answer.failAsFiltered();
    // At the length limit a half-written call is no surprise: it is left out.
    else if (status === "incomplete") this.#answer.done("length");
    else if (this.#broken !== undefined) this.#answer.failAsUnreadable(this.#broken);
    else this.#answer.done("stop");
  }

  #readResponse(response: Json): void {
    const { id, usage, status } = response;
    this.#answer.tell(toldIn(response));
    if (isText(id)) this.#answer.reply.responseId = id;
    this.#answer.reply.usage = readUsage(usage) ?? this.#answer.reply.usage;
    if (!isText(status) || status === "in_progress" || status === "queued") return;
    this.#ended = response;
    this.finish();
  }

  /** An answer that was not streamed: the same items, each at once. */
  #readDocument(response: Json): void {
    const items: readonly unknown[] = Array.isArray(response.output) ? response.output : [];
    for (const item of items) {
      this.#beginItem();
      this.#endItem(recordOf(item));
    }
    this.#readResponse(response);
  }

  #beginItem(): void {
    this.#answer.reply.endBlock();
    this.#wasTold = false;
  }

  #endItem(item: Json): void {
    switch (item.type) {
      case "message":
        if (!this.#wasTold) this.#answer.text(textsOf(item.content).join(""));
        this.#answer.reply.signText(textSignature(item));
        break;
      case "reasoning":
        if (!this.#wasTold) this.#answer.thinking(textsOf(item.summary).join("\n\n"), "item");
        this.#answer.reply.sign(JSON.stringify(item), "item");
        break;
      case "function_call":
        this.#readCall(item);
        break;
      case "custom_tool_call":
        this.#readFreeCall(item);
        break;
      default:
        // What only the provider understands goes back as it came.
        if (isText(item.type)) this.#answer.reply.opaque(item.type, item);
    }
    this.#beginItem();
  }

  #readCall({ call_id: id, name, arguments: text }: Json): void {
    const parsed = parseToolArguments(typeof text === "string" ? text : JSON.stringify(text ?? {}));
    if (!parsed.ok || !isCallId(id) || !isText(name)) this.#broken ??= isText(name) ? name : "";
    else this.#answer.reply.toolCall({ type: "toolCall", id, name, arguments: parsed.value });
  }

  /** Of a tool that takes a text and no arguments. */
  #readFreeCall({ call_id: id, name, input }: Json): void {
    if (!isCallId(id) || !isText(name)) this.#broken ??= isText(name) ? name : "";
    else
      this.#answer.reply.toolCall({
        ...{ type: "toolCall", id, name, arguments: { input: isText(input) ? input : "" } },
      });
  }
}

const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const textsOf = (parts: unknown): string[] =>
  (Array.isArray(parts) ? parts : []).flatMap((part) => {
    const { text, refusal } = recordOf(part);
    return isText(text) ? [text] : isText(refusal) ? [refusal] : [];
  });
