// Exports what a host's own stores are checked with, whatever the test runner.
export {
  type OpenedTranscript,
  type TestTranscriptStoreOptions,
  type TranscriptStoreUnderTest,
  testTranscriptStore,
} from "./testing/transcript-store.ts";
