import { createOpenAIEmulator } from "@clew/providers/testing";
import { appendFileSync } from "node:fs";
const port = Number(process.argv[2]); const log = process.argv[3];
const faults = new Map();
const text = (c) => typeof c === "string" ? c : (c ?? []).map((b) => b.text ?? "").join("\n");
const server = await createOpenAIEmulator({ port, tolerant: true, check: true, models: ["gpt-fake"],
  onRequest(r) {
    const ms = r.body?.messages ?? [];
    appendFileSync(log, JSON.stringify({ at: Date.now(), path: r.path, violations: r.violations, n: ms.length, tools: (r.body?.tools ?? []).length, bytes: r.text.length, prompt: r.bill?.prompt, roles: ms.map((m) => `${m.role}:${text(m.content).length}${m.tool_calls ? "+" + m.tool_calls.map(c=>c.id) : ""}`), last: text(ms.at(-1)?.content).slice(-300), body: r.body }) + "\n");
  },
  answers({ body }) {
    const ms = body.messages;
    const isReal = (m) => m.role === "user" && !text(m.content).includes("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>");
    const at = ms.findLastIndex(isReal);
    const said = text(ms[at]?.content ?? "");
    if (!body.tools?.length && /summar/i.test(text(ms[0].content))) return { text: "SUMMARY of what was said: the secret is Pelican-7." };
    const fault = /\[\[fault:(\w+)x(\d+)\]\]/.exec(said);
    if (fault) { const n = faults.get(fault[1]) ?? 0; if (n < Number(fault[2])) { faults.set(fault[1], n + 1); return { fault: "overflow", window: 32000, observedTokens: 40000 }; } }
    const calls = [...said.matchAll(/\[\[tool:(\w+) (\{.*?\})\]\]/g)];
    const done = ms.slice(at + 1).filter((m) => m.role === "tool").length;
    if (done < calls.length) return { toolCalls: [{ name: calls[done][1], arguments: JSON.parse(calls[done][2]) }] };
    return { text: `heard ${said.slice(-60).replace(/\[\[.*?\]\]/g, "")} ${"word ".repeat(40)}` };
  } });
console.log(server.baseUrl);
