// Exports what plugins read of the selected memory plugin.
export {
  buildActiveMemoryPromptSection,
  type MemoryPromptParams,
  type PreparedMemoryPrompt,
} from "./memory-prompt.ts";
