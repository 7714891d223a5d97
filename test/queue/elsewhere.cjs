// Loaded into one worker (`node --require`): has it reach a port of loopback by way of another, which can be closed
// for it alone. CONNECT_ELSEWHERE is "from:to".
const { Socket } = require('node:net');

const [from, to] = process.env.CONNECT_ELSEWHERE.split(':').map(Number);
const { connect } = Socket.prototype;

Socket.prototype.connect = function (...args) {
	const [options] = Array.isArray(args[0]) ? args[0] : args;
	if (Number(options?.port) === from) options.port = to;
	return connect.apply(this, args);
};
