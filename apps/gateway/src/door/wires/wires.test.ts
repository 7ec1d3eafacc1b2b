// Reads and shortens one conversation on each of the four wires.
import { classifyError } from "@clew/providers";
import { checkRequest } from "@clew/providers/testing";
import { describe, expect, it } from "vitest";
import { readResponses } from "../transcript/read-responses.ts";
import type { DoorApi, DoorWire, JsonObject } from "./door-wire.ts";
import { DOOR_WIRES, wireAt } from "./find-wire.ts";
import { formOf } from "./json.ts";

const LONG = "x".repeat(400);
const say = (chars: number) => `[${chars} characters set aside]`;

interface Sample {
  path: string;
  body: Record<string, unknown>;
  speakers: string[];
  /** The reply that calls, the result, and the result when it is elided. */
  call: JsonObject;
  result: JsonObject;
  elided: JsonObject;
}

const args = { path: "a" };
const chat = {
  call: {
    role: "assistant",
    content: null,
    reasoning_content: "hm",
    tool_calls: [
      { id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
    ],
  },
  result: { role: "tool", tool_call_id: "c1", content: LONG, own: 1 },
};
const responses = {
  call: { type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: "{}" },
  result: { type: "function_call_output", call_id: "c1", output: LONG, own: 1 },
};
const messages = {
  call: {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "tool_use", id: "c1", name: "read", input: args },
    ],
  },
  result: {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "c1", content: LONG, own: 1 },
      { type: "text", text: "go on", cache_control: { type: "ephemeral" } },
    ],
  },
};
const google = {
  call: {
    role: "model",
    parts: [
      { text: "hm", thought: true },
      { functionCall: { id: "c1", name: "read", args }, thoughtSignature: "c2ln" },
    ],
  },
  result: {
    role: "user",
    parts: [{ functionResponse: { id: "c1", name: "read", response: { output: LONG } }, own: 1 }],
  },
};

const SAMPLES: Record<DoorApi, Sample> = {
  "openai-completions": {
    path: "/v1/chat/completions",
    body: {
      model: "m",
      stream: true,
      max_completion_tokens: 100,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "developer", content: "Use tools." },
        { role: "user", content: "Read a." },
        chat.call,
        chat.result,
      ],
      tools: [{ type: "function", function: { name: "read", parameters: { type: "object" } } }],
    },
    speakers: ["system", "system", "person", "model", "tools"],
    call: chat.call,
    result: chat.result,
    elided: { ...chat.result, content: say(400) },
  },
  "openai-responses": {
    path: "/v1/responses",
    body: {
      model: "m",
      stream: true,
      max_output_tokens: 100,
      store: false,
      instructions: "Be brief.",
      input: [
        { role: "developer", content: "Use tools." },
        { type: "message", role: "user", content: [{ type: "input_text", text: "Read a." }] },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "abc" },
        responses.call,
        responses.result,
      ],
      tools: [{ type: "function", name: "read", parameters: { type: "object" } }],
    },
    speakers: ["system", "person", "model", "model", "tools"],
    call: responses.call,
    result: responses.result,
    elided: { ...responses.result, output: say(400) },
  },
  "anthropic-messages": {
    path: "/v1/messages",
    body: {
      model: "m",
      stream: true,
      max_tokens: 100,
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: "Read a." }, messages.call, messages.result],
      tools: [{ name: "read", input_schema: { type: "object" } }],
    },
    speakers: ["person", "model", "tools"],
    call: messages.call,
    result: messages.result,
    elided: {
      ...messages.result,
      content: [{ ...messages.result.content[0], content: say(400) }, messages.result.content[1]],
    },
  },
  "google-generative-ai": {
    path: "/v1beta/models/m:streamGenerateContent",
    body: {
      generationConfig: { maxOutputTokens: 100 },
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "Read a." }] }, google.call, google.result],
      tools: [{ functionDeclarations: [{ name: "read" }] }],
    },
    speakers: ["person", "model", "tools"],
    call: google.call,
    result: google.result,
    elided: {
      role: "user",
      parts: [
        {
          functionResponse: { id: "c1", name: "read", response: { output: say(413) } },
          own: 1,
        },
      ],
    },
  },
};

const isRefused = (api: DoorApi, path: string, body: unknown) =>
  checkRequest({ api, path, body }).filter(({ level }) => level === "reject");

describe("Responses of a client in code mode", () => {
  const wire = DOOR_WIRES["openai-responses"];
  const exec = { type: "custom", name: "exec", description: "Runs code." };
  const listing = {
    ...{ type: "additional_tools", id: "at_1", role: "developer" },
    tools: [{ type: "namespace", name: "functions", tools: [exec] }, { type: "web_search" }],
  };
  const call = { type: "custom_tool_call", call_id: "c1", name: "exec", input: '{"a":1}' };
  const output = { type: "custom_tool_call_output", call_id: "c1", output: LONG };

  it("list their tools in the input, and make calls with a text", () => {
    const input = [listing, { role: "user", content: "Read a." }, call, output];
    const request = wire.read({ model: "m", input }, "/v1/responses");
    expect(request).toMatchObject({ tools: ["exec", "web_search"], leading: 1 });
    expect(input.map((item) => wire.look(item).speaker)).toEqual([
      ...["system", "person", "model", "tools"],
    ]);
    const form = formOf("exec", { input: '{"a":1}' });
    expect(wire.look(call)).toMatchObject({ calls: ["c1"], forms: [form], answers: [] });
    expect(wire.look(output)).toMatchObject({ calls: [], answers: ["c1"] });
    expect(wire.elide(output, 300, say)).toEqual({ ...output, output: say(400) });
    expect(readResponses(listing)).toEqual([]);
    expect(readResponses(call)).toMatchObject([{ content: [{ arguments: { input: '{"a":1}' } }] }]);
  });
});

describe.each(Object.entries(SAMPLES))("the wire %s", (api, sample) => {
  const wire = DOOR_WIRES[api as DoorApi];

  it("is found by its address and reads its request", () => {
    expect(wireAt(sample.path)).toBe(wire);
    const request = wire.read(sample.body, sample.path);
    expect(request).toMatchObject({
      model: "m",
      streaming: true,
      tools: ["read"],
      maxTokens: 100,
      leading: sample.speakers.indexOf("person"),
    });
    expect(request?.messages.map((message) => wire.look(message).speaker)).toEqual(sample.speakers);
  });

  it("knows which result answers which call", () => {
    expect(wire.look(sample.call)).toMatchObject({ calls: ["c1"], answers: [] });
    expect(wire.look(sample.result)).toMatchObject({ calls: [], answers: ["c1"] });
  });

  it("elides long results only, and keeps what it does not know", () => {
    expect(wire.elide(sample.result, 300, say)).toEqual(sample.elided);
    expect(wire.elide(sample.result, 500, say)).toBe(sample.result);
    expect(wire.elide(sample.call, 0, say)).toBe(sample.call);
  });

  it("recognises a message whose marker, item id and thinking are others", () => {
    const told = wire.look(sample.call).identity;
    const bare = JSON.parse(JSON.stringify(sample.call), (name, value) =>
      name === "thoughtSignature" || name === "reasoning_content" ? undefined : value,
    ) as JsonObject;
    const marked = { ...bare, id: "other", status: "completed", cache_control: {} };
    expect(wire.look(marked).identity).toBe(told);
    expect(wire.look(wire.withoutThinking(sample.call)).identity).toBe(told);
    expect(wire.look(sample.elided).identity).not.toBe(wire.look(sample.result).identity);
  });

  it("is refused nothing that it would not be refused unshortened", () => {
    const list = sample.body[wire.list] as JsonObject[];
    const shortened = list.map((message) => wire.elide(message, 0, say));
    const noted = [wire.withText(list[0]!, "A note."), ...list.slice(1)];
    for (const messages of [list, shortened, noted])
      expect(isRefused(wire.api, sample.path, { ...sample.body, [wire.list]: messages })).toEqual(
        isRefused(wire.api, sample.path, sample.body),
      );
  });

  it("reads no body without a list of objects", () => {
    for (const list of [undefined, null, 5, {}, ["a"], [null]])
      expect(wire.read({ ...sample.body, [wire.list]: list }, sample.path)).toBeUndefined();
  });
});

describe("a message is recognised", () => {
  const same = (wire: DoorWire, a: JsonObject, b: JsonObject) =>
    wire.look(a).identity === wire.look(b).identity;
  const { COMPLETIONS, MESSAGES, RESPONSES } = {
    COMPLETIONS: DOOR_WIRES["openai-completions"],
    MESSAGES: DOOR_WIRES["anthropic-messages"],
    RESPONSES: DOOR_WIRES["openai-responses"],
  };

  it("as a text or as one block, in any order of its members", () => {
    const text = { role: "system", content: "Mind the tests." };
    const block = {
      content: [
        { text: "Mind the tests.", type: "text", cache_control: { type: "ephemeral", ttl: "1h" } },
      ],
      output_config: { effort: "low" },
      role: "system",
    };
    expect(same(MESSAGES, text, block)).toBe(true);
  });

  it("without content, with null and with nothing in it", () => {
    const call = { role: "assistant", tool_calls: [{ id: "c1" }] };
    for (const content of [null, "", [], undefined])
      expect(same(COMPLETIONS, call, { ...call, content, refusal: null })).toBe(true);
  });

  it("as a typed item or not", () => {
    const item = { role: "user", content: "Hi" };
    const typed = { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] };
    expect(same(RESPONSES, item, typed)).toBe(true);
  });

  it("but not when a call has another id or a text another word", () => {
    const call = (id: string) => ({ role: "assistant", content: null, tool_calls: [{ id }] });
    expect(same(COMPLETIONS, call("c1"), call("c2"))).toBe(false);
    expect(same(COMPLETIONS, { role: "user", content: "a" }, { role: "user", content: "b" })).toBe(
      false,
    );
  });

  it("not at all when it is reasoning alone, which clients drop", () => {
    expect(RESPONSES.look({ type: "reasoning", summary: [] }).identity).toBeNull();
  });
});

describe("a result that loads tools", () => {
  it("is not elided by Anthropic's wire: without it they could not be called", () => {
    const block = { type: "tool_result", tool_use_id: "t", content: [] as object[] };
    const names = Array.from({ length: 40 }, (_, at) => ({
      ...{ type: "tool_reference", tool_name: `tool_of_the_server_${at}` },
    }));
    const loading = { role: "user", content: [{ ...block, content: names }] };
    expect(DOOR_WIRES["anthropic-messages"].elide(loading, 300, say)).toBe(loading);
    const long = { role: "user", content: [{ ...block, content: [{ type: "text", text: LONG }] }] };
    expect(DOOR_WIRES["anthropic-messages"].elide(long, 300, say)).not.toBe(long);
  });
});

describe("an overflow", () => {
  it("names the window and, when it is at fault, what no view can shorten", () => {
    for (const wire of Object.values(DOOR_WIRES)) {
      const small = wire.overflow({ tokens: 9_000, window: 8_000, fixedTokens: 100 });
      expect(small.status).toBe(400);
      expect(JSON.stringify(small.body)).toMatch(/9000.*8000|8000.*9000/);
      expect(JSON.stringify(small.body)).not.toContain("tools alone");
      const fixed = wire.overflow({ tokens: 9_000, window: 8_000, fixedTokens: 7_000 });
      expect(JSON.stringify(fixed.body)).toContain("tools alone take 7000 of them");
    }
  });

  it("counts what is kept for the reply, too, and tells the two apart, to our own drivers as well", () => {
    for (const [api, wire] of Object.entries(DOOR_WIRES)) {
      const sizes = { tokens: 7_900, reply: 500, window: 8_000, fixedTokens: 100 };
      const { status, body } = wire.overflow(sizes);
      const text = JSON.stringify(body);
      expect(text).toMatch(/8400.*8000|8000.*8400/);
      const read = classifyError(
        { kind: "http", status, headers: { get: () => null }, body: text },
        {
          provider: "other",
          api,
          endpoint: { baseUrl: "http://127.0.0.1/" },
          now: Date.now,
          secrets: [],
        },
      );
      expect(read).toMatchObject({ kind: "overflow", promptTokens: 7_900, windowTokens: 8_000 });
    }
  });

  it("is recognised by the words or the code that clients look for", () => {
    const told = (api: DoorApi) =>
      JSON.stringify(DOOR_WIRES[api].overflow({ tokens: 9, window: 8, fixedTokens: 0 }).body);
    expect(told("anthropic-messages")).toMatch(
      /invalid_request_error.*prompt is too long: 9 tokens > 8 maximum/,
    );
    expect(told("openai-completions")).toMatch(/maximum context length.*context_length_exceeded/);
    expect(told("openai-responses")).toContain("context_length_exceeded");
    expect(told("google-generative-ai")).toMatch(/exceeds the maximum.*INVALID_ARGUMENT/);
  });
});

describe("an error", () => {
  it("has a type of its wire for every status", () => {
    for (const wire of Object.values(DOOR_WIRES))
      for (const status of [400, 401, 404, 413, 418, 429, 500, 503, 529]) {
        const { body } = wire.error(status, "Not now.");
        expect(body.error).toMatchObject({ message: "Not now." });
        expect(JSON.stringify(body)).not.toContain("undefined");
      }
  });
});

describe("a cache marker", () => {
  const wire = DOOR_WIRES["anthropic-messages"];
  const marker = { type: "ephemeral" };

  it("stands on the last block, and only where it may", () => {
    expect(wire.withMarker({ role: "user", content: "Hi" }, marker)).toEqual({
      role: "user",
      content: [{ type: "text", text: "Hi", cache_control: marker }],
    });
    for (const content of ["", [], [{ type: "thinking", thinking: "hm" }]])
      expect(wire.withMarker({ role: "assistant", content }, marker)).toBeUndefined();
    expect(wire.withMarker(messages.result, marker)).toBeUndefined();
  });
});

describe("a call of Google's wire", () => {
  it("is known by the id it was given, also where Gemini CLI puts its name before that", () => {
    const { look } = DOOR_WIRES["google-generative-ai"];
    const shown = { id: "read_file__c1", name: "read_file" };
    expect(look({ role: "model", parts: [{ functionCall: shown }] }).calls).toEqual(["c1"]);
    expect(look({ role: "user", parts: [{ functionResponse: shown }] }).answers).toEqual(["c1"]);
  });
});
