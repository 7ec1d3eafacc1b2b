// What of a reply is still to be written once it is whole.
import { isRecord } from "@clew/plugin-sdk/host";
import type { JsonObject } from "../wires/door-wire.ts";
import type { ReplyBlock, ReplyStream } from "./reply-writer.ts";

/** Its calls, and its words where none of them came before. */
export function restOfReply(
  stream: ReplyStream,
  { blocks, wasTold }: { blocks: readonly ReplyBlock[]; wasTold: boolean },
): string {
  let text = stream.endBlock();
  for (const block of blocks) {
    if (block.type === "toolCall") text += stream.call(block);
    else if (!wasTold) {
      text += block.type === "text" ? stream.text(block.text) : stream.thinking(block.thinking);
      text += stream.endBlock();
    }
  }
  return text;
}

/** Chat Completions tells it in a stream only where it is asked to. */
export const usageIsAsked = ({ stream_options: options }: JsonObject): boolean =>
  isRecord(options) && options.include_usage === true;
