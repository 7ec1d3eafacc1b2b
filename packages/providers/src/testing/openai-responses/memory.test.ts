import { afterEach, describe, expect, it } from "vitest";
import { createResponsesEmulator } from "../emulators.ts";
import type { Emulator } from "../server/options.ts";

const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(options: Parameters<typeof createResponsesEmulator>[0] = {}) {
  const server = await createResponsesEmulator(options);
  servers.push(server);
  return server;
}

interface Item {
  type: string;
  id: string;
  call_id: string;
  encrypted_content?: string | null;
}

interface Answer {
  status: number;
  id: string;
  prompt_cache_diagnostics?: object;
  output: Item[];
  error?: { message: string; param: string };
  usage: { input_tokens: number; input_tokens_details: Record<string, number> };
}

async function send({ baseUrl }: Emulator, change: object, key = "one"): Promise<Answer> {
  const response = await fetch(`${baseUrl}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "gpt-5.6", ...change }),
  });
  return { ...((await response.json()) as Answer), status: response.status };
}

const hi = { role: "user", content: "hi" };
const LOOP = [
  { thinking: "Read it.", toolCalls: [{ name: "read", arguments: {} }] },
  { text: "Done." },
];
const answerTo = ({ output }: Answer) => ({
  type: "function_call_output",
  call_id: output.find(({ type }) => type === "function_call")!.call_id,
  output: "it",
});

describe("reasoning that comes back to a Responses server", () => {
  it("is read whole, with ids or without, for the account it was made for", async () => {
    const server = await start({ answers: LOOP });
    const first = await send(server, { input: [hi], store: false });
    const withIds = [hi, ...first.output, answerTo(first)];
    const without = withIds.map((item) => ({ ...item, id: undefined }));
    for (const input of [withIds, without])
      expect((await send(server, { input, store: false })).status).toBe(200);
    const other = await send(server, { input: without, store: false }, "two");
    expect([other.status, other.error?.param]).toEqual([400, "encrypted_content"]);
    expect(other.error?.message).toMatch(/^The encrypted content gAAAAA.*could not be verified/);
  });

  it("may not be missing beside the id of its call", async () => {
    const server = await start({ answers: LOOP });
    const first = await send(server, { input: [hi] });
    const call = first.output.filter(({ type }) => type !== "reasoning");
    const lost = await send(server, { input: [hi, ...call, answerTo(first)] });
    expect(lost.error?.param).toBe("reasoning.missing");
    const nameless = call.map((item) => ({ ...item, id: undefined }));
    expect((await send(server, { input: [hi, ...nameless, answerTo(first)] })).status).toBe(200);
  });

  it("is known by its name alone only where it was stored", async () => {
    const server = await start({ answers: LOOP });
    const named = async (store: boolean) => {
      const first = await send(server, { input: [hi], store });
      const input = first.output.map(({ encrypted_content: _gone, ...item }) => ({
        ...item,
        ...(item.type === "reasoning" && { encrypted_content: undefined }),
      }));
      return send(server, { input: [hi, ...input, answerTo(first)] });
    };
    const again = await start({ answers: LOOP.slice(0, 1) });
    expect((await named(true)).status).toBe(200);
    servers.push(server);
    const kept = await send(again, { input: [hi], store: false });
    const bare = kept.output.map((item) =>
      item.type === "reasoning" ? { ...item, encrypted_content: undefined } : item,
    );
    const lost = await send(again, { input: [hi, ...bare, answerTo(kept)] });
    expect([lost.status, lost.error?.param]).toEqual([404, "reasoning.not_stored"]);
  });
});

describe("the prompt cache of a Responses server", () => {
  const LONG = "word ".repeat(4000);
  const turn = (count: number) => ({
    input: Array.from({ length: count }, (_, index) => ({
      role: "user",
      content: `${index} ${LONG}`,
    })),
  });
  const read = ({ usage }: Answer) => usage.input_tokens_details.cached_tokens;

  it("is filled by itself, and free where the model is older", async () => {
    const server = await start();
    await send(server, { ...turn(2), model: "gpt-5.2" });
    const grown = await send(server, { ...turn(3), model: "gpt-5.2" });
    expect(read(grown)).toBeGreaterThan(9000);
    expect(grown.usage.input_tokens_details.cache_write_tokens).toBe(0);
  });

  it("costs at writing from GPT-5.6 on, and keeps what was marked", async () => {
    const server = await start();
    const first = await send(server, turn(2));
    expect(first.usage.input_tokens_details.cache_write_tokens).toBe(first.usage.input_tokens);
    const grown = await send(server, turn(3));
    expect(read(grown)).toBe(first.usage.input_tokens);
    expect((await send(server, { ...turn(3), prompt_cache_key: "other" })).usage).toMatchObject({
      input_tokens_details: { cached_tokens: 0 },
    });
    const explicit = { prompt_cache_options: { mode: "explicit" } };
    const unmarked = await send(server, { ...turn(3), ...explicit, prompt_cache_key: "new" });
    expect(unmarked.usage.input_tokens_details.cache_write_tokens).toBe(0);
  });
});

describe("the diagnosis of a cache miss", () => {
  it("names what differs from the response it is compared with", async () => {
    const server = await start();
    const request = { input: [hi, { role: "user", content: "two" }] };
    const { id } = await send(server, request);
    const foundIn = async (change: object, comparison_response_id = id) =>
      (
        await send(server, {
          ...request,
          ...change,
          prompt_cache_options: { comparison_response_id },
        })
      ).prompt_cache_diagnostics;
    expect(await foundIn({})).toEqual({ type: "cache_hit" });
    expect(await foundIn({ input: [...request.input, hi] })).toEqual({ type: "cache_hit" });
    expect(await foundIn({ reasoning: { effort: "low" } })).toMatchObject({
      reason: "reasoning_effort_changed",
    });
    expect(await foundIn({ input: [hi] })).toMatchObject({ reason: "input_changed" });
    expect(await foundIn({}, "resp_x")).toEqual({ type: "comparison_response_not_found" });
  });
});
