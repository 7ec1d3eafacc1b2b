import { type Content, type GenerateContentResponse, GoogleGenAI, type Part } from "@google/genai";
import { describe, expect, it } from "vitest";
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
