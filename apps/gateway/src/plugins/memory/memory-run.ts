// Knows the memory section of the run that goes on.
import { AsyncLocalStorage } from "node:async_hooks";
import type { LogPort } from "@clew/engine-core";
import type { MemoryPromptParams } from "@clew/plugin-sdk/core";
import {
  type PreparedMemoryPrompt,
  provideMemoryPromptSection,
  provideMemoryPromptSlot,
} from "@clew/plugin-sdk/host";
import type { RunAs } from "../load/running.ts";
import type { ActiveMemory } from "./choose-memory.ts";
import { MEMORY_SECTION, tellWrong } from "./memory-answers.ts";
import { buildSection, prepareSection, type SectionProblem } from "./section.ts";

const storage = new AsyncLocalStorage<PreparedMemoryPrompt | undefined>();

/** Runs `work`, and everything it starts, with the section that was prepared for it. */
export function inMemoryRun<Result>(
  prepared: PreparedMemoryPrompt | undefined,
  work: () => Result,
): Result {
  return storage.run(prepared, work);
}

/** Undefined: no run goes on, or nothing was prepared for it. */
export const memoryOfRun = (): PreparedMemoryPrompt | undefined => storage.getStore();

export interface ProvidedMemory {
  memory: () => ActiveMemory;
  runAs: RunAs;
  /** Of one plugin's lines. */
  limitBytes: number;
  log: LogPort;
}

/** Lets the SDK's functions for prompts find the memory of this gateway. */
export function provideMemory({ memory, runAs, limitBytes, log }: ProvidedMemory): void {
  const tell = (problems: readonly SectionProblem[]) => {
    for (const { plugin, reason } of problems)
      tellWrong(log, { plugin, asked: MEMORY_SECTION, wrong: reason });
  };
  provideMemoryPromptSection((params) => {
    const { lines, problems } = buildSection(memory(), params, { runAs, limitBytes });
    tell(problems);
    return lines;
  });
  provideMemoryPromptSlot({
    getStore: () => storage.getStore(),
    async prepare(params: MemoryPromptParams) {
      const bounds = { runAs, limitBytes };
      const { lines, problems } = await prepareSection(memory(), params, bounds);
      tell(problems);
      return lines;
    },
  });
}
