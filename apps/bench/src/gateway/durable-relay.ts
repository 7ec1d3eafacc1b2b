// Keeps a message, asks the model, keeps the reply and answers, in a process of its own.
import { type FileHandle, open } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BareServer, startBare, tellAddress } from "./bare-server.ts";

const OWN_FILE = fileURLToPath(import.meta.url);

/** What every turn costs that loses nothing: two flushes, and one request that is streamed. */
export const startDurableRelay = (model: string, folder: string): Promise<BareServer> =>
  startBare(OWN_FILE, model, folder);

interface Message {
  role: "user" | "assistant";
  content: string;
}

interface Session {
  file: FileHandle;
  messages: Message[];
}

async function keep({ file, messages }: Session, message: Message): Promise<void> {
  messages.push(message);
  await file.appendFile(`${JSON.stringify(message)}\n`);
  await file.datasync();
}

/** The words of all its events. */
async function readReply(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of body) text += decoder.decode(piece, { stream: true });
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice("data: ".length)).choices[0].delta.content ?? "")
    .join("");
}

function relayTo(model: string, folder: string): void {
  const sessions = new Map<string, Promise<Session>>();
  const opened = async (name: string): Promise<Session> => ({
    file: await open(join(folder, `${name}.jsonl`), "a"),
    messages: [],
  });
  const server = createServer(async (heard, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of heard) pieces.push(piece as Buffer);
    const { text } = JSON.parse(Buffer.concat(pieces).toString()) as { text: string };
    const name = encodeURIComponent(heard.url ?? "");
    const session = await (sessions.get(name) ?? opened(name));
    sessions.set(name, Promise.resolve(session));
    await keep(session, { role: "user", content: text });
    response.writeHead(200, { "content-type": "text/event-stream" });
    const answer = await fetch(`${model}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "instant", stream: true, messages: session.messages }),
    });
    const content = await readReply(answer.body!);
    await keep(session, { role: "assistant", content });
    response.write(`event: message\ndata: ${JSON.stringify({ content })}\n\n`);
    response.end(`event: done\ndata: ${JSON.stringify({ outcome: "completed" })}\n\n`);
  });
  tellAddress(server);
}

if (process.argv[1] === OWN_FILE) relayTo(process.argv[2]!, process.argv[3]!);
