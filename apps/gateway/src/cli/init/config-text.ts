// Writes the first settings of a home, with comments that say what else there is.

export interface FirstSettings {
  /** "provider/model". */
  model: string;
  /** Where the provider answers. Absent: where it usually does. */
  baseUrl?: string | undefined;
  /** Variable that holds its key, or program that prints it. Absent: the usual one, or none. */
  key?: { variable: string } | { command: string } | undefined;
  /** Answers as long as nothing signs in to the model. Absent: nobody has to. */
  substitute?: string | undefined;
  engine: string;
}

const text = (value: string): string => JSON.stringify(value);

/** Pure. JSON5. */
export function firstConfigText(settings: FirstSettings): string {
  const { model, engine, substitute } = settings;
  const provider = providerLines(settings);
  return [
    "// Settings of Clew. `clew config reference` lists all of them, `clew doctor` says what works.",
    "{",
    "  agents: {",
    "    defaults: {",
    "      // Who answers, and who does when that one cannot; `clew models list` tells what is known.",
    `      model: { primary: ${text(model)}, fallbacks: [${substitute === undefined ? "" : text(substitute)}] },`,
    "      // The folder in which tools work; without it each agent has one of its own.",
    '      // workspace: "~/work",',
    "    },",
    "  },",
    ...(provider.length === 0
      ? []
      : [
          "  models: {",
          "    providers: {",
          `      ${text(model.split("/")[0]!)}: {`,
          ...provider.map((line) => `        ${line}`),
          "      },",
          "    },",
          "  },",
        ]),
    "  plugins: {",
    "    slots: {",
    "      // What a model sees of a long session is decided by this engine: legacy shows the whole history",
    "      // and sums it up when it does not fit; lossless keeps every message and shows what fits.",
    `      contextEngine: ${text(engine)},`,
    "    },",
    "  },",
    "  gateway: {",
    "    // Where the page and the HTTP API are, on this machine only.",
    "    // port: 18790,",
    "    // Spending ends here, in dollars a day.",
    "    // costCaps: { dayDollars: 20 },",
    "  },",
    "}",
    "",
  ].join("\n");
}

function providerLines({ baseUrl, key }: FirstSettings): string[] {
  const address = baseUrl === undefined ? [] : [`baseUrl: ${text(baseUrl)},`];
  if (key === undefined) return address;
  return "variable" in key
    ? [...address, "// Read from the environment at each start.", `apiKey: "\${${key.variable}}",`]
    : [...address, "// A program that prints the key.", `apiKeyCommand: ${text(key.command)},`];
}
