// Which real plugins are tried, and what each needs to do its job here.

export interface Row {
  /** As the findings name it. */
  readonly name: string;
  /** What npm has of it; null = it has none, and a folder has to be named. */
  readonly npm: string | null;
  /** `plugins.entries.<id>.config`, given the address of a server that remembers. */
  readonly config?: (server: string) => object;
  /** Settings besides. */
  readonly settings?: object;
  /** A tool of it to be called, and with what. */
  readonly tool?: readonly [name: string, parameters: object];
}

export const ROWS: readonly Row[] = [
  { name: "lossless-claw-0.15", npm: null, tool: ["lcm_grep", { pattern: "boat" }] },
  { name: "lossless-claw-1", npm: null, tool: ["lcm_grep", { pattern: "boat" }] },
  {
    name: "mem0",
    npm: "@mem0/openclaw-mem0@1.0.16",
    config: (baseUrl) => ({
      ...{ mode: "platform", apiKey: "m0-of-a-test", userId: "somebody", baseUrl },
      ...{ autoCapture: true, autoRecall: true },
    }),
    tool: ["memory_search", { query: "boat" }],
  },
  { name: "honcho", npm: null, config: (baseUrl) => ({ baseUrl }) },
  { name: "supermemory", npm: null, config: (baseUrl) => ({ apiKey: "key", baseUrl }) },
  { name: "memos", npm: null, config: (baseUrl) => ({ apiKey: "key", baseUrl }) },
  { name: "graph-memory", npm: null, settings: { slots: { contextEngine: "graph-memory" } } },
  {
    name: "memory-lancedb-pro",
    npm: null,
    config: (baseURL) => ({ embedding: { apiKey: "key", model: "small", baseURL } }),
  },
  { name: "libravdb", npm: null },
  {
    name: "hybrid",
    npm: null,
    config: (baseURL) => ({ embedding: { apiKey: "key", model: "small", baseURL } }),
  },
  { name: "hindsight", npm: null, config: (hindsightApiUrl) => ({ hindsightApiUrl }) },
];
