// Which real clients are tried at the door, and how each is pointed at it.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface Client {
  name: string;
  /** Pinned: its next version may do otherwise. */
  npm: string;
  bin: string;
  /** Writes its settings below `home`, and says with which arguments it is asked. */
  prepare(place: { home: string; gateway: string; prompt: string }): Promise<readonly string[]>;
}

/** What clients are told that the model holds: they shall leave it to the gateway. */
const WINDOW = 1_000_000;

export const CLIENTS: readonly Client[] = [
  {
    name: "pi",
    npm: "@mariozechner/pi-coding-agent@0.73.1",
    bin: "pi",
    async prepare({ home, gateway, prompt }) {
      const folder = join(home, ".pi/agent");
      await mkdir(folder, { recursive: true });
      const model = { id: "scripted", name: "Scripted", contextWindow: WINDOW, maxTokens: 32_000 };
      const provider = {
        ...{ baseUrl: `${gateway}/v1`, api: "openai-completions", apiKey: "fake" },
        models: [{ ...model, input: ["text"], reasoning: false }],
      };
      await writeFile(
        join(folder, "models.json"),
        JSON.stringify({ providers: { clew: provider } }),
      );
      return ["--provider", "clew", "--model", "scripted", "-p", prompt];
    },
  },
  {
    name: "kimi",
    npm: "@moonshot-ai/kimi-code@2.1.0",
    bin: "kimi",
    async prepare({ home, gateway, prompt }) {
      const folder = join(home, ".kimi-code");
      await mkdir(folder, { recursive: true });
      const lines = [
        'default_model = "scripted"',
        "[providers.clew]",
        'type = "openai"',
        `base_url = "${gateway}/v1"`,
        'api_key = "fake"',
        "[models.scripted]",
        'provider = "clew"',
        'model = "scripted"',
        `max_context_size = ${WINDOW}`,
      ];
      await writeFile(join(folder, "config.toml"), `${lines.join("\n")}\n`);
      return ["-p", prompt];
    },
  },
];
