int get(int);
void put(int);
int other(int);

inline int shared_inline(int x)
{
	int y = get(x);
	return y > 7 ? y - x : get(y) + 1;
}
