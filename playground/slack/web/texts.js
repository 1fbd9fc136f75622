// The interface's words in Chinese and English.

const KEPT = "zhixing-language";

const TEXTS = {
  workspace: ["演练工作区", "Playground"],
  channels: ["频道", "Channels"],
  app: ["知行", "Zhixing"],
  app_badge: ["应用", "APP"],
  messages: ["消息", "Messages"],
  home: ["主页", "Home"],
  home_empty: ["知行还没有在这里放任何内容。", "Zhixing has put nothing here yet."],
  direct: ["私信", "Direct message"],
  mail: ["邮箱", "Mail"],
  mail_empty: ["还没有邮件。", "No mail yet."],
  mail_none: ["请选择一封邮件。", "Choose a message."],
  mail_mine: ["{name} 收到的邮件", "Mail for {name}"],
  mail_all: ["这台服务器收到的全部邮件", "All mail this server took"],
  mail_subjectless: ["（无主题）", "(no subject)"],
  from: ["发件人", "From"],
  to: ["收件人", "To"],
  wiki: ["维基（Confluence）", "Wiki (Confluence)"],
  notion: ["Notion", "Notion"],
  tickets: ["工单（Jira）", "Tickets (Jira)"],
  admin: ["提问记录（运维）", "Traces (operations)"],
  places: ["公司其他系统", "Elsewhere"],
  opens_new: ["在新标签页打开", "opens in a new tab"],
  acting_as: ["当前身份", "You are"],
  switch_person: ["切换身份", "Switch person"],
  kind_member: ["员工", "member"],
  kind_guest: ["访客", "guest"],
  kind_stranger: ["外部人员", "outsider"],
  kind_bot: ["应用", "app"],
  language: ["English", "中文"],
  menu: ["菜单", "Menu"],
  back: ["返回", "Back"],
  members: ["{n} 位成员", "{n} members"],
  private: ["私有频道", "Private channel"],
  shared: ["与外部组织共享", "Shared with another organisation"],
  join: ["加入频道", "Join channel"],
  leave: ["退出频道", "Leave channel"],
  not_member: ["您还不是 #{name} 的成员。", "You are not a member of #{name} yet."],
  room_empty: ["这里还没有消息。输入 @ 提及知行，或输入 / 使用命令。", "Nothing here yet. Type @ to mention Zhixing, or / for commands."],
  dm_empty: ["直接向知行提问即可，不必提及它。", "Just ask Zhixing; no mention needed."],
  thread: ["话题", "Thread"],
  close: ["关闭", "Close"],
  replies: ["{n} 条回复", "{n} replies"],
  reply_one: ["1 条回复", "1 reply"],
  reply: ["在话题中回复", "Reply in thread"],
  write_room: ["发送消息到 #{name}", "Message #{name}"],
  write_dm: ["给知行发消息", "Message Zhixing"],
  write_thread: ["回复…", "Reply…"],
  send: ["发送", "Send"],
  send_hint: ["Enter 发送，Shift+Enter 换行", "Enter to send, Shift+Enter for a new line"],
  shortcuts: ["快捷方式", "Shortcuts"],
  shortcuts_none: ["没有快捷方式", "No shortcuts"],
  only_you: ["仅您可见", "Only visible to you"],
  edited: ["（已编辑）", "(edited)"],
  deleted: ["此消息已删除。", "This message was deleted."],
  more: ["更多操作", "More actions"],
  edit: ["编辑消息", "Edit message"],
  save: ["保存", "Save"],
  cancel: ["取消", "Cancel"],
  delete: ["删除消息", "Delete message"],
  delete_sure: ["确定删除这条消息吗？", "Delete this message?"],
  streaming: ["正在书写", "writing"],
  today: ["今天", "Today"],
  yesterday: ["昨天", "Yesterday"],
  choose: ["请选择", "Choose"],
  choose_option: ["选择一项", "Choose an option"],
  optional: ["（可选）", "(optional)"],
  required: ["请填写此项。", "Please fill this in."],
  image: ["图片", "Image"],
  working: ["请稍候…", "One moment…"],
  submit: ["提交", "Submit"],
  yes: ["是", "Yes"],
  no: ["否", "No"],
  offline: ["连接已断开，正在重连…", "Connection lost, trying again…"],
  loading: ["正在载入…", "Loading…"],
  skip: ["跳到输入框", "Skip to the composer"],
  new_message: ["{name}：{text}", "{name}: {text}"],
  unread: ["有新消息", "unread"],
  everyone: ["所有人", "everyone"],
  command: ["命令", "command"],
  unsupported: ["此处无法显示这种内容（{type}）。", "This can't be shown here ({type})."],
  suggested: ["可以这样问", "Try asking"],
  error_unreachable: ["工作区没有响应，请稍后再试。", "The workspace does not answer; please try again."],
  error_app_did_not_answer: ["知行没有响应，请稍后再试。", "Zhixing did not answer in time; please try again."],
  error_unknown_command: ["没有这个命令。", "There is no such command."],
  error_message_not_found: ["这条消息已不存在。", "That message is no longer there."],
  error_channel_not_found: ["您看不到这个频道。", "You can't see that channel."],
  error_view_not_found: ["这个表单已关闭。", "That form is no longer open."],
  error_is_archived: ["频道已归档。", "The channel is archived."],
  error_other: ["没有成功（{code}）。", "That did not work ({code})."],
};

export let language = pick();

function pick() {
  const kept = localStorage.getItem(KEPT);
  if (kept === "zh" || kept === "en") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export function setLanguage(next) {
  localStorage.setItem(KEPT, next);
  language = next;
  document.documentElement.lang = next === "zh" ? "zh-CN" : "en";
}

export function t(name, values = {}) {
  const text = TEXTS[name][language === "zh" ? 0 : 1];
  return text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}

export function describeError(code) {
  return `error_${code}` in TEXTS ? t(`error_${code}`) : t("error_other", { code });
}

const locale = () => (language === "zh" ? "zh-CN" : "en-GB");

export function formatTime(ts) {
  return new Date(Number(ts) * 1000).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
}

export function formatDay(ts) {
  const day = new Date(Number(ts) * 1000);
  const now = new Date();
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (day.toDateString() === now.toDateString()) return t("today");
  if (day.toDateString() === yesterday.toDateString()) return t("yesterday");
  return day.toLocaleDateString(locale(), { year: "numeric", month: "long", day: "numeric" });
}
