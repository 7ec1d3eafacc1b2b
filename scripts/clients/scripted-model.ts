// A model server that reads one file a call, and refuses what its window does not hold.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedModel {
  url: string;
  /** Lists of messages it took, in order. */
  taken: (readonly object[])[];
  /** Requests that did not fit. */
  refused: number;
  close(): void;
}

interface Body {
  messages: { role: string }[];
  tools?: { function: { name: string; parameters?: { properties?: Record<string, unknown> } } }[];
}

/** Reads `calls` files by whichever tool of its client does that. */
export async function startScriptedModel(options: {
  window: number;
  calls: number;
}): Promise<ScriptedModel> {
  const model: ScriptedModel = { url: "", taken: [], refused: 0, close: () => {} };
  let called = 0;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    const tokens = Math.ceil(bytes.length / 4);
    if (tokens > options.window) {
      model.refused++;
      const message = `This model's maximum context length is ${options.window} tokens. However, your messages resulted in ${tokens} tokens.`;
      const error = { message, type: "invalid_request_error", code: "context_length_exceeded" };
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error }));
      return;
    }
    const body = JSON.parse(bytes.toString()) as Body;
    model.taken.push(body.messages);
    const id = `chatcmpl-${model.taken.length}`;
    const event = (choice: object, more: object = {}) =>
      response.write(
        `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 1, model: "scripted", choices: [choice], ...more })}\n\n`,
      );
    const tool = body.tools?.find((each) => /^(read|read_?file)$/i.test(each.function.name));
    const isOver = called >= options.calls || tool === undefined;
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (isOver) event({ index: 0, delta: { role: "assistant", content: "All files are read." } });
    else {
      const names = Object.keys(tool.function.parameters?.properties ?? {});
      const name = names.find((each) => /path|file/i.test(each)) ?? "path";
      const given = JSON.stringify({ [name]: `notes/${++called}.txt` });
      const call = { name: tool.function.name, arguments: given };
      const made = { index: 0, id: `call_${called}`, type: "function", function: call };
      event({ index: 0, delta: { role: "assistant", tool_calls: [made] } });
    }
    const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 };
    event({ index: 0, delta: {}, finish_reason: isOver ? "stop" : "tool_calls" }, { usage });
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  model.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return model;
}
