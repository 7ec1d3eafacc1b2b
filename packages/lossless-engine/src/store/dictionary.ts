// What compressed texts are written against.

/**
 * How messages look as JSON, and words that many texts hold, the most frequent last. It can never
 * change: texts that were compressed against it are read with it alone. zstd reads with it also
 * what was compressed without one.
 */
export const DICTIONARY: Uint8Array = Buffer.from(
  [
    "people number system change because through different between another without something message example question answer request response function return value string object",
    'import { readFileSync } from "node:fs";\nexport const = async (): Promise<void> => {\n  const result = await\n  return undefined;\n};\nexport function (value: unknown): string | undefined {\n  if (value === undefined) return;\n  for (const of ) {\n    throw new Error(`\n  }\n}\nexport interface {\n  readonly : number;\n}\n',
    'import type { } from "./\nexpect().toEqual(\ndescribe("", () => {\n  it("\n  "dependencies": {\n    "version": "\n  "scripts": {\n',
    "def __init__(self, ):\n        return None\nclass :\n    if not in:\nimport os\nfrom typing import\n#!/bin/bash\n",
    "at async file:///home/node_modules/\nError: ENOENT: no such file or directory, open '/home/\nINFO  WARN  ERROR  DEBUG  src/index.ts: src/components/ README.md package.json tests/ test.ts .py\n",
    "the of and to in is that it for was on are with as be this have from or not but what all we when there can you your which if do will each how out then them so these would other into has more no than been find use may first just where most know get back before new used any same look also come work must does well such here why help put again should now only make made like time see error file line path",
    '{"role":"toolResult","toolCallId":"toolu_","toolName":"exec","isError":true,"content":[{"type":"text","text":"',
    '{"role":"toolResult","toolCallId":"call_","toolName":"read","isError":false,"content":[{"type":"text","text":""}],"details":{"exitCode":0,"status":"completed","path":"/home/"},"timestamp":17,"__openclaw":{"id":"',
    '{"role":"user","content":[{"type":"text","text":""},{"type":"image","mimeType":"image/png","data":"',
    '{"role":"user","content":"","timestamp":17,"idempotencyKey":"","__openclaw":{"id":"',
    '{"role":"assistant","content":[{"type":"thinking","thinking":"","thinkingSignature":""},{"type":"text","text":""},{"type":"toolCall","id":"toolu_","name":"exec","arguments":{"command":"',
    '"},{"type":"toolCall","id":"call_","name":"read","arguments":{"path":"src/","query":"","pattern":"","file_path":"/","content":""}}],"api":"openai-responses","provider":"openai","model":"gpt-',
    '"api":"anthropic-messages","provider":"anthropic","model":"claude-","usage":{"input":1000,"output":200,"cacheRead":0,"cacheWrite":0,"totalTokens":1200,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":17,"__openclaw":{"id":"',
    '"totalTokens":1200},"stopReason":"stop","timestamp":17,"__openclaw":{"id":"',
  ].join("\n"),
);
