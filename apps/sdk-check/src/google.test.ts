import {
  type Content,
  type GenerateContentConfig,
  type GenerateContentResponse,
  type GenerationConfig,
  GoogleGenAI,
  type Part,
  type ServiceTier,
  type Tool,
  type ToolConfig,
} from "@google/genai";
import { describe, expect, it } from "vitest";
import type { ModelCall } from "../../../packages/plugin-sdk/src/host.ts";
import { googleGenerativeAi } from "../../../packages/providers/src/drivers/google-generative-ai.ts";
import type { GeminiBody } from "../../../packages/providers/src/google-generative-ai/body.ts";
import type { WrittenPart } from "../../../packages/providers/src/google-generative-ai/parts.ts";
import {
  createGoogleEmulator,
  type EmulatorAnswer,
} from "../../../packages/providers/src/testing.ts";
import { open, READ, TOOL_LOOP } from "./servers.ts";

const MODEL = "gemini-3-pro-preview";

async function start(answers: readonly EmulatorAnswer[]) {
  const server = await open(createGoogleEmulator({ answers }));
  const httpOptions = { baseUrl: server.url, retryOptions: { attempts: 1 } };
  return { server, client: new GoogleGenAI({ apiKey: "key", httpOptions }) };
}

const hi: Content = { role: "user", parts: [{ text: "Look at a and b." }] };
const config = {
  systemInstruction: "Be brief.",
  tools: [{ functionDeclarations: [{ name: READ.name, parametersJsonSchema: READ.schema }] }],
};

async function partsOf(stream: AsyncIterable<GenerateContentResponse>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const { candidates } of stream) parts.push(...(candidates?.[0]?.content?.parts ?? []));
  return parts;
}

describe("@google/genai and the emulated Gemini api", () => {
  it.each([true, false])(
    "goes through a loop of parallel functions with thoughts (stream: %s)",
    async (streamed) => {
      const { server, client } = await start(TOOL_LOOP);
      const contents = [hi];
      const ask = async () => {
        const request = { model: MODEL, contents, config };
        if (streamed) return partsOf(await client.models.generateContentStream(request));
        const response = await client.models.generateContent(request);
        return response.candidates?.[0]?.content?.parts ?? [];
      };
      const parts = await ask();
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
      expect(calls.map(({ args }) => args)).toEqual([{ path: "a" }, { path: "b" }]);
      expect(parts.filter(({ thoughtSignature }) => thoughtSignature)).toHaveLength(1);
      contents.push(
        { role: "model", parts },
        {
          role: "user",
          parts: calls.map(({ id, name }) => ({
            functionResponse: { ...(id && { id }), name: name!, response: { output: "" } },
          })),
        },
      );
      const said = (await ask()).filter(({ thought }) => !thought).map(({ text }) => text ?? "");
      expect(said.join("")).toBe("Both are empty.");
      expect(server.violations).toEqual([]);
    },
  );

  it("knows each refusal and failure for what it is", async () => {
    const { client } = await start([
      { fault: "rate-limit", retryAfterMs: 3000 },
      { fault: "overloaded" },
      { fault: "cut", text: "so far" },
    ]);
    const ask = (contents = [hi]) => client.models.generateContent({ model: MODEL, contents });
    await expect(ask()).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('"retryDelay":"3s"') as string,
    });
    await expect(ask()).rejects.toMatchObject({ status: 503 });
    const stream = await client.models.generateContentStream({ model: MODEL, contents: [hi] });
    await expect(partsOf(stream)).rejects.toThrow();
    await expect(ask([{ role: "user", parts: [] }])).rejects.toMatchObject({ status: 400 });
  });

  it("speaks with the address of Vertex, too", async () => {
    const server = await open(createGoogleEmulator({ answers: [{ text: "Hello." }] }));
    const client = new GoogleGenAI({
      vertexai: true,
      apiKey: "key",
      httpOptions: { baseUrl: server.url, retryOptions: { attempts: 1 } },
    });
    const { text, usageMetadata } = await client.models.generateContent({
      model: MODEL,
      contents: [hi],
    });
    expect(text).toBe("Hello.");
    expect(usageMetadata?.promptTokenCount).toBeGreaterThan(0);
    expect(server.requests[0]?.path).toContain("publishers/google/models");
  });
});

/** The vendor's type, with the names of its enumerations as they stand on the wire. */
type OnTheWire<T> = T extends string
  ? `${T}`
  : T extends readonly (infer Item)[]
    ? readonly OnTheWire<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: OnTheWire<T[Key]> }
      : T;

interface GenerateContentRequest {
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig;
  serviceTier?: ServiceTier;
}

/** Does not compile where a part, a field or a word of ours is not the vendor's. */
const asVendorTypes = (ours: Omit<GeminiBody<WrittenPart>, "serviceTier">) =>
  ours satisfies OnTheWire<GenerateContentRequest>;

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mM4IScHAAK2AQUKW6YGAAAAAElFTkSuQmCC";

/** One that the server takes although nobody made it. */
const SIGNATURE = btoa("skip_thought_signature_validator");

/** A session with everything that our driver can write. */
function callAt(provider: string, more: Partial<ModelCall> = {}): ModelCall {
  const own = { api: "google-generative-ai", provider } as const;
  return {
    model: { ...own, id: MODEL, contextWindow: 1_000_000, maxOutputTokens: 8000 },
    systemPrompt: "Be brief.",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "image", data: PNG, mimeType: "image/png" },
        ],
      },
      {
        role: "assistant",
        ...own,
        content: [
          { type: "thinking", thinking: "Hm.", thinkingSignature: SIGNATURE, carrier: "thought" },
          { type: "text", text: "So.", textSignature: SIGNATURE },
          {
            type: "toolCall",
            id: "a",
            name: "read",
            arguments: { path: "a" },
            thoughtSignature: SIGNATURE,
          },
        ],
        stopReason: "toolUse",
      },
      {
        role: "toolResult",
        toolCallId: "a",
        toolName: "read",
        content: [
          { type: "text", text: "one" },
          { type: "image", data: PNG, mimeType: "image/png" },
        ],
        isError: false,
      },
    ],
    tools: [{ name: READ.name, description: READ.description, parameters: READ.schema }],
    toolChoice: { name: READ.name },
    maxOutputTokens: 100,
    temperature: 0.5,
    reasoning: { effort: "high" },
    responseFormat: { type: "json_schema", name: "x", schema: { type: "object" } },
    serviceTier: "flex",
    signal: new AbortController().signal,
    ...more,
  };
}

describe("a request of ours", () => {
  it.each(["google", "google-vertex"])(
    "is what the official client sends for the same, to the same address (%s)",
    async (provider) => {
      const server = await open(createGoogleEmulator({ answers: [{ text: "{}" }] }));
      const vertexai = provider === "google-vertex";
      const apiVersion = vertexai ? "v1beta1" : "v1beta";
      const baseUrl = `${server.url}/${apiVersion}`;
      const request = googleGenerativeAi.buildRequest(callAt(provider), { baseUrl });
      const ours = asVendorTypes(JSON.parse(request.body) as GeminiBody<WrittenPart>);
      const { contents, generationConfig, ...fields } = JSON.parse(request.body) as {
        contents: Content[];
        generationConfig: GenerateContentConfig;
      } & GenerateContentConfig;
      const client = new GoogleGenAI({
        vertexai,
        apiKey: "key",
        httpOptions: { baseUrl: server.url, apiVersion, retryOptions: { attempts: 1 } },
      });
      const config = { ...generationConfig, ...fields };
      const asked = { model: MODEL, contents, config };
      await partsOf(await client.models.generateContentStream(asked));
      const [sent] = server.requests;
      expect(JSON.parse(sent!.text)).toEqual(ours);
      expect(new URL(request.url).pathname).toBe(sent!.path.split("?")[0]);
      expect(server.violations).toEqual([]);
    },
  );
});
