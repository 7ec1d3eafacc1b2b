// A model server on loopback that answers each wire with what it heard last.
import { wireAt } from "../wires/find-wire.ts";
import { recordOf } from "../wires/json.ts";
import type { Reply } from "./agents.ts";
import { startUpstream, type TestUpstream } from "./upstream.ts";
import { writeReply } from "./write-reply.ts";

/** Words with "a tool" in them are answered by a call, and its result by words again. */
export async function startEchoes(): Promise<TestUpstream> {
  let count = 0;
  return startUpstream(({ url, bytes }, response) => {
    const [path = ""] = url.split("?");
    const wire = wireAt(path)!;
    const body = recordOf(JSON.parse(bytes.toString()));
    const request = wire.read(body, path)!;
    const { speaker, text } = wire.look(request.messages.at(-1)!);
    const id = `${wire.api.slice(0, 2)}x${++count}Qz7`;
    const heard = speaker === "tools" ? "a result" : text;
    const calls = heard.includes("a tool")
      ? [{ id: `call_${id}`, name: "read", args: { path: `f${count}` } }]
      : [];
    const reply: Reply = {
      ...{ thinking: "", calls },
      text: calls.length > 0 ? "" : `Reply ${count} to ${heard}, of more than forty letters.`,
    };
    const streaming = request.streaming || path.endsWith("streamGenerateContent");
    const usage = { input: 10, output: 5 };
    const { contentType, pieces } = writeReply(wire.api, reply, { id, usage, streaming });
    response.writeHead(200, { "content-type": contentType });
    response.end(pieces.join(""));
  });
}
