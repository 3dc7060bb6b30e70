import { axios } from "@pipedream/platform";

export default {
  type: "app",
  app: "__APP__",
  propDefinitions: {},
  methods: {
    _baseUrl() {
      return "https://api.example.com";
    },
    async _makeRequest({ $ = this, path, ...options }) {
      return axios($, {
        url: this._baseUrl() + path,
        headers: { Authorization: `Bearer ${this.$auth.api_key}` },
        ...options,
      });
    },
  },
};
