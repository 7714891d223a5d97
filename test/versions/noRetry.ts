// Replaces p-retry (see jest.config.js), with which LangChain repeats calls of a model. No test makes such a call.
export {};
